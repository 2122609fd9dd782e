// contended.c with a line for each job; nothing else differs.
#include "corpus.h"

enum { MOST_THREADS = 8 };

// Volatile keeps the compiler from going through the numbers in registers.
struct job {
  _Alignas(64) volatile long next;
  volatile long end;
  volatile long sum;
};

static void* add(void* argument) {
  struct job* job = argument;
  while (job->next != job->end) {
    job->sum += job->next & 7;
    job->next += 1;
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long rounds = rounds_from(argc, argv, 80000000);
  const int threads = threads_from(argc, argv, MOST_THREADS);
  struct job jobs[MOST_THREADS] = {0};
  pthread_t started[MOST_THREADS];
  const double start = seconds_now();
  for (int i = 0; i < threads; ++i) {
    jobs[i].next = i * rounds;
    jobs[i].end = (i + 1) * rounds;
    started[i] = start_thread(add, &jobs[i]);
  }
  unsigned long sum = 0;
  for (int i = 0; i < threads; ++i) {
    join_thread(started[i]);
    sum += jobs[i].sum;
  }
  print_run(start, rounds, sum);
  return 0;
}
