// Packet counters of each receiving thread, side by side in a static array.
//
// Each thread writes its own entry only. An entry has 16 bytes, so four of them lie on one line, and each
// packet that one thread counts takes the line away from the others.
#include <stdatomic.h>

#include "corpus.h"

enum { MOST_THREADS = 8 };

struct tally {  // @definition tally
  atomic_long packets;
  atomic_long bytes;
};

_Alignas(64) static struct tally tallies[MOST_THREADS];

static long rounds;

static void* receive(void* number) {
  struct tally* own = &tallies[(intptr_t)number];
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add_explicit(&own->packets, 1, memory_order_relaxed);  // @contended tally.packets
    atomic_fetch_add_explicit(&own->bytes, 64 + (i & 1023), memory_order_relaxed);  // @contended tally.bytes
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 6000000);
  const int threads = threads_from(argc, argv, MOST_THREADS);
  const double start = seconds_now();
  run_threads(threads, receive);
  long sum = 0;
  for (int i = 0; i < threads; ++i) sum += tallies[i].packets + tallies[i].bytes;
  print_run(start, rounds, sum);
  return 0;
}
