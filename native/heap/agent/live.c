/* The table of recorded blocks that were not freed yet. Neighbours in memory are neighbours in the table, so
   that it touches an eighth of the memory that the blocks themselves do. No locks: only who frees a block
   removes it. */
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heap/agent/agent.h"

#define SLOTS 8      /* a bucket is one cache line */
#define COVER_BITS 9 /* of the heap: 512 bytes hold eight blocks of 64 */
#define MOST_BITS 20 /* 64 MiB of addresses, of which only what is used becomes memory */
#define FEWEST_BITS 14

typedef _Atomic uint64_t slot;

static slot (*buckets)[SLOTS];
static uint64_t mask;

int live_prepare(void) {
  if (buckets != NULL) return 1;
  for (unsigned bits = MOST_BITS; bits >= FEWEST_BITS; bits--) { /* less where RLIMIT_AS allows no more */
    void* memory = (void*)syscall(SYS_mmap, NULL, (size_t)sizeof(slot[SLOTS]) << bits, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    mask = ((uint64_t)1 << bits) - 1;
    buckets = memory;
    return 1;
  }
  return 0;
}

/* The buckets for an address; the higher bits keep the arenas of threads, 64 MiB apart, from meeting. */
static inline uint64_t first_bucket(uint64_t address) {
  return ((address >> COVER_BITS) + (address >> 26) * 0x9e3779b1u) & mask;
}
#define TRIES 2

int live_insert(uint64_t address) {
  const uint64_t first = first_bucket(address);
  for (uint64_t i = 0; i < TRIES; i++) {
    slot* bucket = buckets[(first + i) & mask];
    for (int k = 0; k < SLOTS; k++) {
      uint64_t empty = atomic_load_explicit(&bucket[k], memory_order_relaxed);
      if (empty == address) return 1; /* its free went past us */
      if (empty == 0 && atomic_compare_exchange_strong_explicit(&bucket[k], &empty, address,
                                                                memory_order_relaxed, memory_order_relaxed))
        return 1;
    }
  }
  return 0;
}

int live_remove(uint64_t address) {
  const uint64_t first = first_bucket(address);
  for (uint64_t i = 0; i < TRIES; i++) {
    slot* bucket = buckets[(first + i) & mask];
    for (int k = 0; k < SLOTS; k++)
      if (atomic_load_explicit(&bucket[k], memory_order_relaxed) == address) {
        atomic_store_explicit(&bucket[k], 0, memory_order_relaxed);
        return 1;
      }
  }
  return 0;
}
