// contended.c with a line for each job; nothing else differs.
#include "corpus.h"

enum { MOST_THREADS = 8 };

struct job {
  _Alignas(64) long first;
  long count;
  volatile long sum;
};

static void* add(void* argument) {
  struct job* job = argument;
  const long end = job->first + job->count;
  for (long i = job->first; i < end; ++i) {
    job->sum += i & 7;
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long rounds = rounds_from(argc, argv, 300000000);
  const int threads = threads_from(argc, argv, MOST_THREADS);
  struct job jobs[MOST_THREADS] = {0};
  pthread_t started[MOST_THREADS];
  const double start = seconds_now();
  for (int i = 0; i < threads; ++i) {
    jobs[i].first = i * rounds;
    jobs[i].count = rounds;
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
