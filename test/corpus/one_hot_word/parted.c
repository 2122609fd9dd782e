// contended.c with the counter on a line of its own. It takes as long: all threads want the same word.
#include <stdatomic.h>

#include "corpus.h"

enum { MOST_THREADS = 8 };

struct board {
  atomic_long events;
  _Alignas(64) long opened;
};

_Alignas(64) static struct board board = {.opened = 1};

static long rounds;

static void* count(void* unused) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add_explicit(&board.events, 1, memory_order_relaxed);
  }
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 12000000);
  const int threads = threads_from(argc, argv, MOST_THREADS);
  const double start = seconds_now();
  run_threads(threads, count);
  print_run(start, rounds, board.events);
  return 0;
}
