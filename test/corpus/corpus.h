// What every C and C++ program of the corpus needs besides its pattern: arguments, numbered threads, memory,
// the last lines of its output. Programs take [ROUNDS [THREADS]]; those of two roles take ROUNDS alone. C11
// and C++20, compiled with -I examples.
#pragma once

#include <stdint.h>
#include <string.h>

#include "common.h"

// Neighbours in a source file often end up on one line, but no rule says so. Variables with this mark do.
#ifdef __clang__
#define NEIGHBOUR __attribute__((section("neighbours")))  // clang keeps the order of definition
#else
#define NEIGHBOUR __attribute__((section("neighbours"), no_reorder))
#endif

// The second argument: how many threads run, 2 by default.
static inline int threads_from(int argc, char** argv, int most) {
  const long given = argc > 2 ? strtol(argv[2], NULL, 10) : 2;
  if (given < 1 || given > most) {
    fprintf(stderr, "usage: %s [ROUNDS [THREADS]], with 1 to %d threads\n", argv[0], most);
    exit(2);
  }
  return (int)given;
}

// Runs `body` in `count` threads to their ends. Each gets its number, from 0, as an intptr_t.
static inline void run_threads(int count, void* (*body)(void*)) {
  pthread_t threads[64];
  for (int i = 0; i < count; ++i) threads[i] = start_thread(body, (void*)(intptr_t)i);
  for (int i = 0; i < count; ++i) join_thread(threads[i]);
}

// Runs two threads of different roles to their ends.
static inline void run_pair(void* (*first)(void*), void* (*second)(void*)) {
  const pthread_t one = start_thread(first, NULL);
  const pthread_t other = start_thread(second, NULL);
  join_thread(one);
  join_thread(other);
}

// A block of zeros that begins a cache line, so that what lies on which line is the same in each run.
static inline void* line_aligned(size_t bytes) {
  void* block = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (block == NULL) {
    perror("aligned_alloc");
    exit(1);
  }
  memset(block, 0, (bytes + 63) / 64 * 64);
  return block;
}

// Keeps a compiler that sees all uses of a variable from taking it apart into variables of its members.
static inline void keep_whole(const void* variable) {
  __asm__ volatile("" : : "r"(variable) : "memory");
}

// Work that uses nothing shared: some `steps` nanoseconds.
static inline void work_privately(int steps) {
  for (int step = 0; step < steps; ++step) {
    volatile int used = step;
    (void)used;
  }
}

// The output: how many rounds there were, what came out of them (the same in both forms of a program), and
// seconds.
static inline void print_run(double start, long rounds, unsigned long result) {
  printf("rounds %ld\nresult %lu\n", rounds, result);
  print_elapsed(start);
}
