/* What `cacheline doctor --self-test` records: two threads count in neighbouring words of one cache line, a third one on a
 * line of its own. Each works for a fixed CPU time, so that a busy machine makes the run longer and not the result poorer. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define CONTENDED_MS 400
#define BYSTANDER_MS 200
#define ROUND 1000

struct queue {
  atomic_long produced;
  atomic_long consumed;
} queue __attribute__((aligned(128)));

struct bystander {
  atomic_long count;
} bystander __attribute__((aligned(128)));

static long cpu_milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void *produce(void *unused) {
  while (cpu_milliseconds() < CONTENDED_MS)
    for (int i = 0; i < ROUND; i++) atomic_fetch_add(&queue.produced, 1);
  return unused;
}

static void *consume(void *unused) {
  while (cpu_milliseconds() < CONTENDED_MS)
    for (int i = 0; i < ROUND; i++) atomic_fetch_add(&queue.consumed, 1);
  return unused;
}

static void *count(void *unused) {
  while (cpu_milliseconds() < BYSTANDER_MS)
    for (int i = 0; i < ROUND; i++) atomic_fetch_add(&bystander.count, 1);
  return unused;
}

int main(void) {
  void *(*const work[])(void *) = {produce, consume, count};
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    if (pthread_create(&threads[i], NULL, work[i], NULL) != 0) {
      fputs("no thread could be started\n", stderr);
      return 1;
    }
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  return 0;
}
