// Counters of each processor: a thread that is bound to a processor counts in its slot.
//
// No two threads use one slot, and none leaves its processor. Four slots of 16 bytes lie on one line.
#include <stdatomic.h>

#include "corpus.h"

enum { MOST_SLOTS = 8 };

struct cpu_slot {  // @definition cpu_slot
  atomic_long events;
  atomic_long dropped;
};

_Alignas(64) static struct cpu_slot slots[MOST_SLOTS];

static cpu_set_t allowed;

static long rounds;

// Binds the calling thread to one of the processors that this program may use; the slots go by their order.
static void bind_to(int slot) {
  const int target = slot % CPU_COUNT(&allowed);
  int cpu = 0;
  for (int seen = -1; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed) && ++seen == target) break;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) {
    perror("sched_setaffinity");
    exit(1);
  }
}

static void* count(void* number) {
  const int slot = (int)(intptr_t)number;
  bind_to(slot);
  struct cpu_slot* own = &slots[slot];
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add_explicit(&own->events, 1, memory_order_relaxed);       // @contended cpu_slot.events
    atomic_fetch_add_explicit(&own->dropped, i & 1, memory_order_relaxed);  // @contended cpu_slot.dropped
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 6000000);
  const int threads = threads_from(argc, argv, MOST_SLOTS);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    perror("sched_getaffinity");
    return 1;
  }
  const double start = seconds_now();
  run_threads(threads, count);
  long sum = 0;
  for (int i = 0; i < MOST_SLOTS; ++i) sum += slots[i].events + slots[i].dropped;
  print_run(start, rounds, sum);
  return 0;
}
