// A ring buffer of one producer and one consumer that look at both indices in each step, on one line.
//
// Each step waits once: for the line, which brings both indices. On lines of their own (parted.c) a step
// would wait twice. What helps is to look less often (fixed.c): each side keeps what it last saw of the other
// one's index, and looks again where the ring is full or empty by that.
#include <stdatomic.h>

#include "common.h"

enum { SLOTS = 16384 };

struct ring {
  atomic_ulong head;  // the next slot to take: the consumer writes it
  atomic_ulong tail;  // the next slot to fill: the producer writes it
  _Alignas(64) unsigned long slots[SLOTS];
};

static _Alignas(64) struct ring ring;  // @variable ring

static long rounds;

static int put(unsigned long value) {
  const unsigned long tail = atomic_load_explicit(&ring.tail, memory_order_relaxed);  // @contended ring.tail
  const unsigned long head = atomic_load_explicit(&ring.head, memory_order_acquire);  // @contended ring.head
  if (tail - head == SLOTS) return 0;
  ring.slots[tail % SLOTS] = value;
  atomic_store_explicit(&ring.tail, tail + 1, memory_order_release);  // @contended ring.tail
  return 1;
}

// Adds what it takes to `sum`.
static int take(unsigned long* sum) {
  const unsigned long head = atomic_load_explicit(&ring.head, memory_order_relaxed);  // @contended ring.head
  const unsigned long tail = atomic_load_explicit(&ring.tail, memory_order_acquire);  // @contended ring.tail
  if (head == tail) return 0;
  *sum += ring.slots[head % SLOTS];
  atomic_store_explicit(&ring.head, head + 1, memory_order_release);  // @contended ring.head
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
  for (long i = 0; i < turns; ++i) {
    while (!put(i)) work_elsewhere();
  }
  return unused;
}

static void* consume(void* total) {
  const long turns = rounds;
  unsigned long sum = 0;
  for (long i = 0; i < turns; ++i) {
    while (!take(&sum)) work_elsewhere();
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
