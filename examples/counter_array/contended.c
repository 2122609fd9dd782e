// One counter for each thread, side by side in an array: the classic.
//
// "Every thread has its own counter, so there is nothing to lock" is right about the data and wrong about the
// hardware: eight such counters lie on one line of 64 bytes, and each increment takes all of them away from
// the other threads.
#include <stdatomic.h>

#include "common.h"

enum { THREADS = 4 };

_Alignas(64) static atomic_long counters[THREADS];  // @variable counters

static long rounds;

static void* count(void* own) {
  atomic_long* counter = own;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);  // @contended counters
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 20000000);
  const double start = seconds_now();
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) threads[i] = start_thread(count, &counters[i]);
  long sum = 0;
  for (int i = 0; i < THREADS; ++i) {
    join_thread(threads[i]);
    sum += atomic_load(&counters[i]);
  }
  printf("%ld counted\n", sum);
  print_elapsed(start);
  return 0;
}
