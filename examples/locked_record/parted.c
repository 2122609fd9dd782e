// contended.c with the lock on another line than what it protects; nothing else differs.
//
// Nothing is gained: whoever takes the lock now waits for two lines where it waited for one.
#include <stdatomic.h>

#include "common.h"

// Volatile keeps the compiler from updating two counters with one vector instruction.
struct statistics {
  atomic_int lock;
  _Alignas(64) volatile long requests;  // these three only under the lock
  volatile long bytes;
  volatile long errors;
};

_Alignas(64) static struct statistics statistics;  // @variable statistics

static long rounds;

static void* serve(void* unused) {
  const long turns = rounds;
  long tries = 0;
  for (long i = 0; i < turns; ++i) {
    while (atomic_exchange(&statistics.lock, 1) != 0) {
      back_off(&tries);
    }
    statistics.requests += 1;
    statistics.bytes += i;
    statistics.errors += i % 8 == 0;
    atomic_store_explicit(&statistics.lock, 0, memory_order_release);
  }
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 40000000);
  const double start = seconds_now();
  const pthread_t first = start_thread(serve, NULL);
  const pthread_t second = start_thread(serve, NULL);
  join_thread(first);
  join_thread(second);
  printf("%ld requests, %ld bytes, %ld errors\n", statistics.requests, statistics.bytes, statistics.errors);
  print_elapsed(start);
  return 0;
}
