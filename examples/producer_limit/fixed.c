// contended.c with `limit` on another line than `produced`; nothing else differs.
//
// Members that one thread writes all the time belong apart from members that others only read.
#include <stdatomic.h>

#include "common.h"

struct queue {
  atomic_long produced;
  _Alignas(64) atomic_long limit;
};

_Alignas(64) static struct queue queue = {0, 1000000000000};  // @variable queue

static long rounds;
static long consumer_waits;

static void* produce(void* unused) {
  const long count = rounds;
  for (long i = 0; i < count; ++i) {
    atomic_fetch_add_explicit(&queue.produced, 1, memory_order_relaxed);
  }
  return unused;
}

static void* consume(void* unused) {
  const long count = 16 * rounds;
  long waits = 0;
  for (long i = 0; i < count; ++i) {
    waits += i > atomic_load_explicit(&queue.limit, memory_order_relaxed);
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
