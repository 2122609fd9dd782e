// contended.c with a line for each variable; nothing else differs.
#include <stdatomic.h>

#include "corpus.h"

NEIGHBOUR _Alignas(64) atomic_int stop_requested = 0;
NEIGHBOUR _Alignas(64) atomic_long processed = 0;

static long rounds;
static unsigned long steps;

static void* process(void* unused) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add_explicit(&processed, 1, memory_order_relaxed);
  }
  return unused;
}

static void* poll_flag(void* unused) {
  const long turns = 16 * rounds;
  unsigned long step = 0;
  for (long i = 0; i < turns; ++i) {
    if (atomic_load_explicit(&stop_requested, memory_order_relaxed)) break;
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
