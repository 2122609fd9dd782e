// A worker that counts with a locked operation all the time, and a monitor that looks beside the counter now
// and then.
//
// Nearly all samples are at the worker's counter, because a locked operation takes as long on a line that
// nobody else wants. The monitor takes the line away during a hundredth of the time: so much there is to
// gain, not more. The share of a line in the samples is not what it costs.
#include <stdatomic.h>

#include "common.h"

// A look at a table of workers reads a word so often; a single read a millisecond would be in no sample at
// all.
enum { READS = 30000 };

struct worker {
  atomic_long done;
  atomic_long limit;
};

_Alignas(64) static struct worker worker = {.limit = 3};  // @variable worker

_Alignas(64) static atomic_int finished;

static long rounds;

static void* count(void* unused) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add(&worker.done, 1);  // @contended worker.done
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
      sum += atomic_load(&worker.limit);  // @contended worker.limit
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
