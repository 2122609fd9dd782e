// contended.c with a line for each index, and sides that look at the other one's index only where they must.
#include <stdatomic.h>

#include "common.h"

enum { SLOTS = 16384 };

struct ring {
  atomic_ulong head;               // the next slot to take: the consumer writes it
  _Alignas(64) atomic_ulong tail;  // the next slot to fill: the producer writes it
  _Alignas(64) unsigned long slots[SLOTS];
};

static _Alignas(64) struct ring ring;  // @variable ring

static long rounds;

// `known` is what the caller last saw of the other side's index.
static int put(unsigned long value, unsigned long* known) {
  const unsigned long tail = atomic_load_explicit(&ring.tail, memory_order_relaxed);
  if (tail - *known == SLOTS) {
    *known = atomic_load_explicit(&ring.head, memory_order_acquire);
    if (tail - *known == SLOTS) return 0;
  }
  ring.slots[tail % SLOTS] = value;
  atomic_store_explicit(&ring.tail, tail + 1, memory_order_release);
  return 1;
}

// Adds what it takes to `sum`.
static int take(unsigned long* sum, unsigned long* known) {
  const unsigned long head = atomic_load_explicit(&ring.head, memory_order_relaxed);
  if (head == *known) {
    *known = atomic_load_explicit(&ring.tail, memory_order_acquire);
    if (head == *known) return 0;
  }
  *sum += ring.slots[head % SLOTS];
  atomic_store_explicit(&ring.head, head + 1, memory_order_release);
  return 1;
}

// Something else, until there is more than one slot to fill or to take: a microsecond of private work. Then
// others may run, in case the other side has no processor.
static void work_elsewhere(void) {
  for (volatile int step = 0; step < 500; step = step + 1) {
  }
  sched_yield();
}

static void* produce(void* unused) {
  const long turns = rounds;
  unsigned long known = 0;
  for (long i = 0; i < turns; ++i) {
    while (!put(i, &known)) work_elsewhere();
  }
  return unused;
}

static void* consume(void* total) {
  const long turns = rounds;
  unsigned long sum = 0, known = 0;
  for (long i = 0; i < turns; ++i) {
    while (!take(&sum, &known)) work_elsewhere();
  }
  *(unsigned long*)total = sum;
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 200000000);
  const double start = seconds_now();
  unsigned long sum = 0;
  const pthread_t producer = start_thread(produce, NULL);
  const pthread_t consumer = start_thread(consume, &sum);
  join_thread(producer);
  join_thread(consumer);
  printf("%ld taken, sum %lu\n", rounds, sum);
  print_elapsed(start);
  return 0;
}
