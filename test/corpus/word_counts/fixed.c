// contended.c with a line for each thread's share; nothing else differs.
#include "corpus.h"

enum { MOST_THREADS = 8 };

// Volatile keeps the compiler from counting in registers.
struct share {
  _Alignas(64) volatile long words;
  volatile long spaces;
};

static struct share* shares;

static long rounds;

static void* count(void* number) {
  struct share* own = &shares[(intptr_t)number];
  const long turns = rounds;
  unsigned letter = 1;
  for (long i = 0; i < turns; ++i) {
    letter = letter * 1103515245 + 12345;
    if ((letter >> 16) % 4 == 0) {
      own->spaces += 1;
    } else {
      own->words += 1;
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 100000000);
  const int threads = threads_from(argc, argv, MOST_THREADS);
  shares = (struct share*)line_aligned(MOST_THREADS * sizeof *shares);
  const double start = seconds_now();
  run_threads(threads, count);
  long sum = 0;
  for (int i = 0; i < threads; ++i) sum += shares[i].words + 2 * shares[i].spaces;
  print_run(start, rounds, sum);
  free(shares);
  return 0;
}
