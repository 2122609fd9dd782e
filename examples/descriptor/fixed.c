// contended.c with the members that every thread writes on a line of their own; nothing else differs.
//
// What is left there is true sharing: each thread pins and locks the same buffer.
#include <stdatomic.h>

#include "common.h"

enum { THREADS = 4, PAGES = 12 };

struct descriptor {
  atomic_long tag;
  atomic_int buffer;
  _Alignas(64) atomic_uint state;
  atomic_int content_lock;
};

_Alignas(64) static struct descriptor descriptor = {.tag = 5, .buffer = 7};  // @variable descriptor

static long rounds;

static long look_up(long page) {
  const long tag = atomic_load(&descriptor.tag);
  const long buffer = atomic_load(&descriptor.buffer);
  return tag == page ? buffer : 0;
}

// Whether the content could be locked; where not, the thread goes on, as for a page that is being read in.
static long use(void) {
  atomic_fetch_add(&descriptor.state, 1);                                 // @contended state
  const long locked = atomic_exchange(&descriptor.content_lock, 1) == 0;  // @contended content_lock
  if (locked) {
    atomic_store_explicit(&descriptor.content_lock, 0, memory_order_release);  // @contended content_lock
  }
  atomic_fetch_sub(&descriptor.state, 1);  // @contended state
  return locked;
}

static void* work(void* used) {
  const long turns = rounds;
  long count = 0;
  for (long i = 0; i < turns; ++i) {
    long buffer = 0;
    for (int page = 0; page < PAGES; ++page) buffer += look_up(page);
    if (buffer != 0) count += use();
  }
  *(long*)used = count;
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 7000000);
  const double start = seconds_now();
  pthread_t threads[THREADS];
  long used[THREADS];
  for (int i = 0; i < THREADS; ++i) threads[i] = start_thread(work, &used[i]);
  long sum = 0;
  for (int i = 0; i < THREADS; ++i) {
    join_thread(threads[i]);
    sum += used[i];
  }
  printf("%ld times locked\n", sum);
  print_elapsed(start);
  return 0;
}
