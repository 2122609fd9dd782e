// contended.c with `limit` on another line than `done`; nothing else differs.
//
// It takes as long as contended.c: there was nothing to gain.
#include <stdatomic.h>

#include "common.h"

// A look at a table of workers reads a word so often; a single read a millisecond would be in no sample at
// all.
enum { READS = 30000 };

struct worker {
  atomic_long done;
  _Alignas(64) atomic_long limit;
};

_Alignas(64) static struct worker worker = {.limit = 3};  // @variable worker

_Alignas(64) static atomic_int finished;

static long rounds;

static void* count(void* unused) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add(&worker.done, 1);
  }
  atomic_store(&finished, 1);
  return unused;
}

static void* monitor(void* looks) {
  const struct timespec pause = {.tv_nsec = 1000000};
  long sum = 0;
  while (!atomic_load(&finished)) {
    nanosleep(&pause, NULL);
    for (int i = 0; i < READS; ++i) {
      sum += atomic_load(&worker.limit);
    }
  }
  *(long*)looks = sum / 3 / READS;
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 400000000);
  const double start = seconds_now();
  long looks = 0;
  const pthread_t first = start_thread(count, NULL);
  const pthread_t second = start_thread(monitor, &looks);
  join_thread(first);
  join_thread(second);
  printf("%ld done, %ld looks\n", atomic_load(&worker.done), looks);
  print_elapsed(start);
  return 0;
}
