// contended.c with the counters on another line than the epoch; nothing else differs.
#include <stdatomic.h>

#include "corpus.h"

enum { STEPS_OF_EPOCH = 65536 };

struct domain {
  atomic_ulong epoch;
  _Alignas(64) atomic_ulong retired;
  atomic_ulong freed;
};

_Alignas(64) static struct domain domain;

static long rounds;
static unsigned long last_seen;

static void* retire(void* unused) {
  const long turns = rounds;
  for (long i = 1; i <= turns; ++i) {
    atomic_fetch_add_explicit(&domain.retired, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&domain.freed, 1, memory_order_relaxed);
    if (i % STEPS_OF_EPOCH == 0) atomic_fetch_add(&domain.epoch, 1);
  }
  return unused;
}

static void* look(void* unused) {
  const long turns = 24 * rounds;
  unsigned long last = 0;
  for (long i = 0; i < turns; ++i) {
    last = atomic_load_explicit(&domain.epoch, memory_order_acquire);
  }
  last_seen = last;
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 10000000);
  const double start = seconds_now();
  run_pair(retire, look);
  if (last_seen > domain.epoch) return 1;
  print_run(start, rounds, domain.epoch + domain.retired + domain.freed);
  return 0;
}
