// contended.c with a whole line for each counter; nothing else differs.
//
// The alignment belongs to the type: it rounds the size up to 64 bytes as well. Aligning a variable only says
// where it starts, and the linker is free to put the next variable on the rest of its line. Some processors
// fetch lines in pairs; hot data of two threads is better 128 bytes apart where memory allows it.
#include <stdatomic.h>

#include "common.h"

struct counter {
  _Alignas(64) atomic_long value;
};

struct counter messages_written;  // @variable messages_written
struct counter messages_read;     // @variable messages_read

static long rounds;

static void* write_messages(void* unused) {
  const long count = rounds;
  for (long i = 0; i < count; ++i) {
    atomic_fetch_add_explicit(&messages_written.value, 1, memory_order_relaxed);
  }
  return unused;
}

static void* read_messages(void* unused) {
  const long count = rounds;
  for (long i = 0; i < count; ++i) {
    atomic_fetch_add_explicit(&messages_read.value, 1, memory_order_relaxed);
  }
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 45000000);
  const double start = seconds_now();
  const pthread_t writer = start_thread(write_messages, NULL);
  const pthread_t reader = start_thread(read_messages, NULL);
  join_thread(writer);
  join_thread(reader);
  printf("%ld written, %ld read\n", atomic_load(&messages_written.value), atomic_load(&messages_read.value));
  print_elapsed(start);
  return 0;
}
