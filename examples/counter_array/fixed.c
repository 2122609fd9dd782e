// contended.c with a whole line for each thread's counter; nothing else differs.
//
// The array grows from 32 to 256 bytes: the price of one line for each thread.
#include <stdatomic.h>

#include "common.h"

enum { THREADS = 4 };

struct slot {
  _Alignas(64) atomic_long count;
};

static struct slot counters[THREADS];  // @variable counters

static long rounds;

static void* count(void* own) {
  atomic_long* counter = own;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 20000000);
  const double start = seconds_now();
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) threads[i] = start_thread(count, &counters[i].count);
  long sum = 0;
  for (int i = 0; i < THREADS; ++i) {
    join_thread(threads[i]);
    sum += atomic_load(&counters[i].count);
  }
  printf("%ld counted\n", sum);
  print_elapsed(start);
  return 0;
}
