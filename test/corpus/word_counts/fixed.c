// contended.c with a line for each thread's share; nothing else differs.
#include "corpus.h"

enum { MOST_THREADS = 8, KINDS = 4 };

// Volatile keeps the compiler from counting in registers.
struct share {
  _Alignas(64) volatile long count[KINDS];
};

static struct share* shares;

static long rounds;

static void* count(void* number) {
  struct share* own = &shares[(intptr_t)number];
  const long turns = rounds;
  unsigned character = 1;
  for (long i = 0; i < turns; ++i) {
    character = character * 1103515245 + 12345;
    own->count[character / 65536 % KINDS] += 1;
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 100000000);
  const int threads = threads_from(argc, argv, MOST_THREADS);
  shares = (struct share*)line_aligned(MOST_THREADS * sizeof *shares);
  const double start = seconds_now();
  run_threads(threads, count);
  unsigned long sum = 0;
  for (int i = 0; i < threads; ++i) {
    for (int kind = 0; kind < KINDS; ++kind) sum += (unsigned long)shares[i].count[kind] * kind;
  }
  print_run(start, rounds, sum);
  free(shares);
  return 0;
}
