// A pool of spin locks, one for each stripe of a table. Each thread works on its own stripes.
//
// No lock is ever found taken. But eight of them lie on one line, and taking one is a locked write.
#include <stdatomic.h>

#include "corpus.h"

enum { LOCKS = 8 };

struct spin {  // @definition spin
  atomic_int taken;
  int stripe;
};

_Alignas(64) static struct spin pool[LOCKS];

static long rounds;
static int threads;

static void* work(void* number) {
  const long own = (intptr_t)number;
  const long turns = rounds;
  const int stripes = LOCKS / threads;
  long tries = 0;
  for (long i = 0; i < turns; ++i) {
    struct spin* lock = &pool[own + i % stripes * threads];
    while (atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire) != 0) {  // @contended spin.taken
      back_off(&tries);
    }
    atomic_store_explicit(&lock->taken, 0, memory_order_release);  // @contended spin.taken
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 12000000);
  threads = threads_from(argc, argv, LOCKS);
  for (int i = 0; i < LOCKS; ++i) pool[i].stripe = i;
  const double start = seconds_now();
  run_threads(threads, work);
  print_run(start, rounds, rounds * threads);
  return 0;
}
