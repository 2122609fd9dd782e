// contended.c with slots that begin a line; nothing else differs.
#include <stdatomic.h>

#include "corpus.h"

enum { SLOTS = 4096, EACH = 4, MOST_THREADS = 8 };

struct slot {
  atomic_long begun;
  long values[6];
  atomic_long ended;
};

static struct slot* slots;

static long rounds;
static int threads;

static void* work(void* number) {
  const long own = (intptr_t)number;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    struct slot* slot = &slots[own + i % EACH * threads];
    atomic_fetch_add_explicit(&slot->begun, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&slot->ended, 1, memory_order_relaxed);
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 6000000);
  threads = threads_from(argc, argv, MOST_THREADS);
  slots = aligned_alloc(64, SLOTS * sizeof *slots);
  if (slots == NULL) {
    perror("aligned_alloc");
    return 1;
  }
  memset(slots, 0, SLOTS * sizeof *slots);
  const double start = seconds_now();
  run_threads(threads, work);
  long sum = 0;
  for (int i = 0; i < SLOTS; ++i) sum += slots[i].begun + slots[i].ended;
  print_run(start, rounds, sum);
  free(slots);
  return 0;
}
