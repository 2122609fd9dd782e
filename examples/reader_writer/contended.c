// A writer and a reader, each counting its own messages in its own variable, and still waiting for each
// other.
//
// `messages_written` is used by the writer thread only, `messages_read` by the reader thread only: no data is
// shared. But processors move memory between cores in lines of 64 bytes, and the two variables lie on one
// line: whenever one thread counts, the line leaves the other's core. That is false sharing. fixed.c is the
// same program with a line each.
//
// The counters are atomic so that a third thread could read them while they move. It also makes the cost
// visible: a plain increment can wait in the store buffer while its thread runs on, a locked one has to own
// the line at once.
#include <stdatomic.h>
#include <stdint.h>

#include "common.h"

// Neighbours in a source file often end up on one line, but no rule says so. This example makes sure.
#ifdef __clang__
#define NEIGHBOUR __attribute__((section("statistics")))  // clang keeps the order of definition
#else
#define NEIGHBOUR __attribute__((section("statistics"), no_reorder))
#endif

NEIGHBOUR _Alignas(64) atomic_long messages_written = 0;  // @variable messages_written
NEIGHBOUR atomic_long messages_read = 0;                  // @variable messages_read

static long rounds;

static void* write_messages(void* unused) {
  const long count = rounds;
  for (long i = 0; i < count; ++i) {
    atomic_fetch_add_explicit(&messages_written, 1, memory_order_relaxed);  // @contended messages_written
  }
  return unused;
}

static void* read_messages(void* unused) {
  const long count = rounds;
  for (long i = 0; i < count; ++i) {
    atomic_fetch_add_explicit(&messages_read, 1, memory_order_relaxed);  // @contended messages_read
  }
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 45000000);
  if ((uintptr_t)&messages_written / 64 != (uintptr_t)&messages_read / 64) {
    fprintf(stderr, "this toolchain put the two variables on two lines: there is nothing to find\n");
    return 1;
  }
  const double start = seconds_now();
  const pthread_t writer = start_thread(write_messages, NULL);
  const pthread_t reader = start_thread(read_messages, NULL);
  join_thread(writer);
  join_thread(reader);
  printf("%ld written, %ld read\n", atomic_load(&messages_written), atomic_load(&messages_read));
  print_elapsed(start);
  return 0;
}
