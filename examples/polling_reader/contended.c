// A thread that works, and looks four times a microsecond whether it shall stop, beside a counter of another thread.
//
// Few of its accesses are reads of `stop`, but each one finds that the counter's owner took the line away in
// between, and takes it away from the owner. Between two looks the owner counts some ten times undisturbed;
// the two of them still alternate so often that a line for each is faster.
#include <stdatomic.h>

#include "common.h"

// Steps of the reader's own work between two looks: about a quarter of a microsecond.
enum { STEPS = 100 };

struct job {
  atomic_long progress;
  atomic_long stop;
};

_Alignas(64) static struct job job;  // @variable job

static long rounds;

static void* advance(void* unused) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add(&job.progress, 1);  // @contended job.progress
  }
  return unused;
}

static void* work_until_stopped(void* steps) {
  const long looks = rounds / STEPS;
  atomic_long own = 0;
  for (long i = 0; i < looks && atomic_load(&job.stop) == 0; ++i) {  // @contended job.stop
    for (int step = 0; step < STEPS; ++step) atomic_fetch_add(&own, 1);
  }
  *(long*)steps = atomic_load(&own);
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 400000000);
  const double start = seconds_now();
  long steps = 0;
  const pthread_t owner = start_thread(advance, NULL);
  const pthread_t reader = start_thread(work_until_stopped, &steps);
  join_thread(owner);
  join_thread(reader);
  printf("progress %ld, %ld steps\n", atomic_load(&job.progress), steps);
  print_elapsed(start);
  return 0;
}
