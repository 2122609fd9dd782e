// A barrier of two threads, and on its line the progress that each of them makes between two meetings.
//
// The barrier's own words are shared in truth, once in a thousand steps. The two words of progress are not.
#include <stdatomic.h>

#include "corpus.h"

enum { STEPS = 1000 };

struct team {  // @definition team
  atomic_int arrived;
  atomic_int phase;
  atomic_long left;
  atomic_long right;
};

_Alignas(64) static struct team team;

static long rounds;

static void meet(long* tries) {
  const int phase = atomic_load(&team.phase);
  if (atomic_fetch_add(&team.arrived, 1) == 1) {
    atomic_store(&team.arrived, 0);
    atomic_store(&team.phase, phase + 1);
  } else {
    while (atomic_load(&team.phase) == phase) back_off(tries);
  }
}

static void* go_left(void* unused) {
  long tries = 0;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    for (int step = 0; step < STEPS; ++step) {
      atomic_fetch_add_explicit(&team.left, 1, memory_order_relaxed);  // @contended team.left
    }
    meet(&tries);
  }
  return unused;
}

static void* go_right(void* unused) {
  long tries = 0;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    for (int step = 0; step < STEPS; ++step) {
      atomic_fetch_add_explicit(&team.right, 1, memory_order_relaxed);  // @contended team.right
    }
    meet(&tries);
  }
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 12000);
  const double start = seconds_now();
  run_pair(go_left, go_right);
  print_run(start, rounds, team.left + team.right + team.phase);
  return 0;
}
