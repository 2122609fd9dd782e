// What every example needs besides its point: the number of rounds, a clock, threads. C11 and C++20.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// The first argument overrides how often each hot loop runs.
static inline long rounds_from(int argc, char** argv, long standard) {
  const long given = argc > 1 ? strtol(argv[1], NULL, 10) : standard;
  if (given <= 0) {
    fprintf(stderr, "usage: %s [ROUNDS]\n", argv[0]);
    exit(2);
  }
  return given;
}

static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// The last line of every example's output, in a fixed form.
static inline void print_elapsed(double start) {
  printf("elapsed %.3f s\n", seconds_now() - start);
}

static inline pthread_t start_thread(void* (*body)(void*), void* argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, argument) != 0) {
    perror("pthread_create");
    exit(1);
  }
  return thread;
}

static inline void join_thread(pthread_t thread) {
  pthread_join(thread, NULL);
}

// After a vain try: now and then lets another thread run, in case the one that is waited for has no processor.
static inline void back_off(long* tries) {
  if (++*tries % 256 == 0) sched_yield();
}
