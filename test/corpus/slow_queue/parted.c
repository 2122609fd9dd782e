// contended.c with a line for each index. It takes as long: the time goes into the elements.
#include <stdatomic.h>

#include "corpus.h"

enum { SLOTS = 1024 };

struct queue {
  atomic_ulong head;
  _Alignas(64) atomic_ulong tail;
  _Alignas(64) unsigned long slots[SLOTS];
};

static _Alignas(64) struct queue queue;

static long rounds;
static unsigned long sum;

static unsigned long work(unsigned long value) {
  for (volatile int step = 0; step < 2000; step = step + 1) {
    value = value * 6364136223846793005ul + 1442695040888963407ul;
  }
  return value;
}

static void* make(void* unused) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    const unsigned long value = work(i);
    const unsigned long tail = atomic_load_explicit(&queue.tail, memory_order_relaxed);
    while (tail - atomic_load_explicit(&queue.head, memory_order_acquire) == SLOTS) work(0);
    queue.slots[tail % SLOTS] = value;
    atomic_store_explicit(&queue.tail, tail + 1, memory_order_release);
  }
  return unused;
}

static void* use(void* unused) {
  const long turns = rounds;
  unsigned long total = 0;
  for (long i = 0; i < turns; ++i) {
    const unsigned long head = atomic_load_explicit(&queue.head, memory_order_relaxed);
    while (atomic_load_explicit(&queue.tail, memory_order_acquire) == head) work(0);
    total += work(queue.slots[head % SLOTS]);
    atomic_store_explicit(&queue.head, head + 1, memory_order_release);
  }
  sum = total;
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 150000);
  keep_whole(&queue);
  const double start = seconds_now();
  run_pair(make, use);
  print_run(start, rounds, sum);
  return 0;
}
