// Lanes of exactly one line each, in an array that does not begin a line.
//
// A lane has 64 bytes and one owner. The arena's own 32 bytes come first, so each lane lies on two lines, and
// its last member shares a line with the next lane's first one.
#include <stdatomic.h>

#include "corpus.h"

enum { MOST_LANES = 8 };

struct lane {  // @definition arena
  atomic_long begun;
  long sizes[6];
  atomic_long ended;
};

struct arena {  // @definition arena
  long used;
  long limit;
  long blocks;
  long spare;
  struct lane lanes[MOST_LANES];
};

_Alignas(64) static struct arena arena;

static long rounds;

static void* work(void* number) {
  struct lane* own = &arena.lanes[(intptr_t)number];
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add_explicit(&own->begun, 1, memory_order_relaxed);  // @contended lane.begun
    atomic_fetch_add_explicit(&own->ended, 1, memory_order_relaxed);  // @contended lane.ended
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 12000000);
  const int threads = threads_from(argc, argv, MOST_LANES);
  const double start = seconds_now();
  run_threads(threads, work);
  long sum = 0;
  for (int i = 0; i < threads; ++i) sum += arena.lanes[i].begun + arena.lanes[i].ended;
  print_run(start, rounds, sum);
  return 0;
}
