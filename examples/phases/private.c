// Two threads that use one line, one after the other.
//
// The first thread fills its word and ends before the second one starts with the word beside it. The line
// changes hands once; nobody ever waits for it. Contention needs accesses that interleave in time.
#include <stdatomic.h>

#include "common.h"

struct results {
  atomic_long first;
  atomic_long second;
};

_Alignas(64) static struct results results;  // @variable results

static long rounds;

static void* count(void* own) {
  atomic_long* word = own;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add_explicit(word, 1, memory_order_relaxed);
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 80000000);
  const double start = seconds_now();
  join_thread(start_thread(count, &results.first));
  join_thread(start_thread(count, &results.second));
  printf("%ld, then %ld\n", atomic_load(&results.first), atomic_load(&results.second));
  print_elapsed(start);
  return 0;
}
