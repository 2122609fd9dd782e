// contended.c with a line for each processor's slot; nothing else differs.
#include <stdatomic.h>

#include "corpus.h"

enum { MOST_SLOTS = 64, MOST_THREADS = 8, BATCH = 4096 };

struct cpu_slot {
  _Alignas(64) atomic_long events;
  atomic_long dropped;
};

_Alignas(64) static struct cpu_slot slots[MOST_SLOTS];

static int slot_of_cpu[CPU_SETSIZE];

static long rounds;

// Numbers the processors that this program may use, so that the slots in use lie side by side.
static void number_cpus(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    perror("sched_getaffinity");
    exit(1);
  }
  int next = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) slot_of_cpu[cpu] = next++ % MOST_SLOTS;
  }
}

static struct cpu_slot* own_slot(void) {
  const int cpu = sched_getcpu();
  if (cpu < 0 || cpu >= CPU_SETSIZE) {
    fprintf(stderr, "sched_getcpu: there is no processor %d\n", cpu);
    exit(1);
  }
  return &slots[slot_of_cpu[cpu]];
}

static void* count(void* unused) {
  const long turns = rounds;
  for (long i = 0; i < turns; i += BATCH) {
    struct cpu_slot* own = own_slot();
    for (long event = 0; event < BATCH; ++event) {
      atomic_fetch_add_explicit(&own->events, 1, memory_order_relaxed);
      atomic_fetch_add_explicit(&own->dropped, event & 1, memory_order_relaxed);
    }
  }
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 6000000);
  const int threads = threads_from(argc, argv, MOST_THREADS);
  number_cpus();
  const double start = seconds_now();
  run_threads(threads, count);
  long sum = 0;
  for (int i = 0; i < MOST_SLOTS; ++i) sum += slots[i].events + slots[i].dropped;
  print_run(start, rounds, sum);
  return 0;
}
