// Slots that were made one line long, in a heap block that does not begin a line.
//
// Their author filled each slot up to 64 bytes so that no two of them share a line. malloc gives a large
// block 16 bytes behind a page's start, so each slot lies on two lines.
#include <stdatomic.h>

#include "corpus.h"

enum { SLOTS = 4096, EACH = 4, MOST_THREADS = 8 };

struct slot {  // @definition slots
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
    atomic_fetch_add_explicit(&slot->begun, 1, memory_order_relaxed);  // @contended slot.begun
    atomic_fetch_add_explicit(&slot->ended, 1, memory_order_relaxed);  // @contended slot.ended
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 6000000);
  threads = threads_from(argc, argv, MOST_THREADS);
  slots = malloc(SLOTS * sizeof *slots);  // @definition slots
  if (slots == NULL) {
    perror("malloc");
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
