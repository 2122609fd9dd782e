// contended.c with the limits on another line than the lock; nothing else differs.
#include <stdatomic.h>

#include "corpus.h"

struct gate {
  atomic_uint next;
  atomic_uint serving;
  _Alignas(64) volatile unsigned capacity;
  volatile unsigned spacing;
};

_Alignas(64) static struct gate gate = {.capacity = 12, .spacing = 3};

static long rounds;
static unsigned long sum;

static void* pass(void* unused) {
  const long turns = rounds;
  long tries = 0;
  for (long i = 0; i < turns; ++i) {
    const unsigned ticket = atomic_fetch_add_explicit(&gate.next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&gate.serving, memory_order_acquire) != ticket) {
      back_off(&tries);
    }
    atomic_fetch_add_explicit(&gate.serving, 1, memory_order_release);
  }
  return unused;
}

static void* plan(void* unused) {
  const long turns = 24 * rounds;
  unsigned long total = 0;
  for (long i = 0; i < turns; ++i) {
    total += gate.capacity;
    total += gate.spacing;
  }
  sum = total;
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 16000000);
  const double start = seconds_now();
  run_pair(pass, plan);
  print_run(start, rounds, sum + gate.serving);
  return 0;
}
