// Two threads count, each in a counter of its own. They share no data, and still wait for each other: the two counters lie on one cache
// line. Each time one thread counts, the line leaves the other thread's core. That is false sharing.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct counters {
  atomic_long made;
  atomic_long used;  // hover here
};

static _Alignas(64) struct counters counters;
static long rounds = 40000000;

static void* make(void* unused) {
  const long count = rounds;
  for (long i = 0; i < count; ++i) atomic_fetch_add_explicit(&counters.made, 1, memory_order_relaxed);
  return unused;
}

static void* use(void* unused) {
  const long count = rounds;
  for (long i = 0; i < count; ++i) atomic_fetch_add_explicit(&counters.used, 1, memory_order_relaxed);
  return unused;
}

// The first argument says how often each thread counts.
int main(int argc, char** argv) {
  if (argc > 1) rounds = strtol(argv[1], NULL, 10);
  struct timespec from;
  struct timespec to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  pthread_t threads[2];
  if (pthread_create(&threads[0], NULL, make, NULL) != 0 || pthread_create(&threads[1], NULL, use, NULL) != 0) {
    perror("pthread_create");
    return 1;
  }
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  clock_gettime(CLOCK_MONOTONIC, &to);
  const double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
  printf("made %ld, used %ld in %.2f s\n", atomic_load(&counters.made), atomic_load(&counters.used), seconds);
  return 0;
}
