// A flag that a thread looks at in its hot loop, and a counter of another thread. Both are global variables.
//
// The flag is written once, at the end. The counter beside it is written all the time.
#include <stdatomic.h>

#include "corpus.h"

NEIGHBOUR _Alignas(64) atomic_int stop_requested = 0;  // @definition processed
NEIGHBOUR atomic_long processed = 0;                   // @definition processed

static long rounds;
static unsigned long steps;

static void* process(void* unused) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add_explicit(&processed, 1, memory_order_relaxed);  // @contended processed
  }
  return unused;
}

static void* poll_flag(void* unused) {
  const long turns = 16 * rounds;
  unsigned long step = 0;
  for (long i = 0; i < turns; ++i) {
    if (atomic_load_explicit(&stop_requested, memory_order_relaxed)) break;  // @contended stop_requested
    step += i & 3;
  }
  steps = step;
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 30000000);
  const double start = seconds_now();
  run_pair(process, poll_flag);
  atomic_store(&stop_requested, 1);
  print_run(start, rounds, processed + steps);
  return 0;
}
