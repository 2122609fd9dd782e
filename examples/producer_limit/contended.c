// A writer and a polling reader in one struct.
//
// The producer counts in `produced`, the consumer polls `limit`, which nobody writes. The consumer only
// reads, and what it reads never changes; yet each of its reads can find that the producer took the line away
// in between. Readers suffer less than writers here: a core that fetched the line reads it many times before
// it loses it again.
#include <stdatomic.h>

#include "common.h"

struct queue {
  atomic_long produced;
  atomic_long limit;
};

_Alignas(64) static struct queue queue = {0, 1000000000000};  // @variable queue

static long rounds;
static long consumer_waits;

static void* produce(void* unused) {
  const long count = rounds;
  for (long i = 0; i < count; ++i) {
    atomic_fetch_add_explicit(&queue.produced, 1, memory_order_relaxed);  // @contended queue.produced
  }
  return unused;
}

static void* consume(void* unused) {
  const long count = 16 * rounds;
  long waits = 0;
  for (long i = 0; i < count; ++i) {
    waits += i > atomic_load_explicit(&queue.limit, memory_order_relaxed);  // @contended queue.limit
  }
  consumer_waits = waits;
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 50000000);
  const double start = seconds_now();
  const pthread_t producer = start_thread(produce, NULL);
  const pthread_t consumer = start_thread(consume, NULL);
  join_thread(producer);
  join_thread(consumer);
  printf("%ld produced, %ld waits\n", atomic_load(&queue.produced), consumer_waits);
  print_elapsed(start);
  return 0;
}
