// contended.c with the deadline on another line. It takes as long: nobody looked at it often enough to
// matter.
#include <stdatomic.h>

#include "corpus.h"

struct progress {
  atomic_long done;
  _Alignas(64) atomic_long deadline;
};

_Alignas(64) static struct progress progress = {.deadline = 1000};

_Alignas(64) static atomic_int finished;

static long rounds;
static unsigned long looks;

static void* work(void* unused) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add_explicit(&progress.done, 1, memory_order_relaxed);
  }
  atomic_store(&finished, 1);
  return unused;
}

static void* watch(void* unused) {
  const struct timespec pause = {.tv_nsec = 1000000};
  while (!atomic_load(&finished)) {
    nanosleep(&pause, NULL);
    looks += atomic_load(&progress.deadline) > 0;
  }
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 80000000);
  const double start = seconds_now();
  run_pair(work, watch);
  print_run(start, rounds, progress.done);
  return 0;
}
