// contended.c with the sequence number on another line than the rest; nothing else differs.
//
// It is slower: the reader waits for two lines where it waited for one.
#include <stdatomic.h>

#include "common.h"

struct position {
  atomic_long sequence;
  _Alignas(64) atomic_long time;
  atomic_long latitude;
  atomic_long longitude;
  atomic_long altitude;
  atomic_long speed;
  atomic_long course;
  atomic_long satellites;
};

_Alignas(64) static struct position position;  // @variable position

struct reader {
  long whole;
  volatile long last[7];
};

static long rounds;

static void* write_positions(void* unused) {
  const long turns = rounds;
  for (long i = 1; i <= turns; ++i) {
    atomic_store_explicit(&position.sequence, 2 * i - 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&position.time, i, memory_order_relaxed);
    atomic_store_explicit(&position.latitude, i, memory_order_relaxed);
    atomic_store_explicit(&position.longitude, i, memory_order_relaxed);
    atomic_store_explicit(&position.altitude, i, memory_order_relaxed);
    atomic_store_explicit(&position.speed, i, memory_order_relaxed);
    atomic_store_explicit(&position.course, i, memory_order_relaxed);
    atomic_store_explicit(&position.satellites, i, memory_order_relaxed);
    atomic_store_explicit(&position.sequence, 2 * i, memory_order_release);
  }
  return unused;
}

// Copies each message, and counts those that were whole: written by nobody meanwhile.
static void* read_positions(void* own) {
  struct reader* reader = own;
  const long turns = rounds;
  long torn = 0;
  for (long i = 0; i < turns; ++i) {
    const long before = atomic_load(&position.sequence);
    reader->last[0] = atomic_load(&position.time);
    reader->last[1] = atomic_load(&position.latitude);
    reader->last[2] = atomic_load(&position.longitude);
    reader->last[3] = atomic_load(&position.altitude);
    reader->last[4] = atomic_load(&position.speed);
    reader->last[5] = atomic_load(&position.course);
    reader->last[6] = atomic_load(&position.satellites);
    const long after = atomic_load(&position.sequence);
    torn += before != after || before % 2 != 0;
  }
  reader->whole = turns - torn;
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 100000000);
  const double start = seconds_now();
  _Alignas(64) struct reader own = {0};
  const pthread_t writer = start_thread(write_positions, NULL);
  const pthread_t reader = start_thread(read_positions, &own);
  join_thread(writer);
  join_thread(reader);
  printf("%ld written, %ld read whole\n", rounds, own.whole);
  print_elapsed(start);
  return 0;
}
