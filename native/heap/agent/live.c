/* The table of recorded blocks that were not freed yet. Neighbours in memory are neighbours in the table, so
   that it touches a sixteenth of the memory that the blocks themselves do. No locks: only who frees a block
   removes it. */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heap/agent/agent.h"

#define MOST_BITS 20 /* 64 MiB of addresses, of which only what is used becomes memory */
#define FEWEST_BITS 14
#define MOST_COUNTED 128 /* leaves room for all threads that add one at the same time */

unsigned char live_counts[LIVE_COUNTS];
live_tag (*live_buckets)[LIVE_SLOTS];
uint64_t live_mask;

int live_prepare(void) {
  if (live_buckets != NULL) return 1;
  for (unsigned bits = MOST_BITS; bits >= FEWEST_BITS; bits--) { /* less where RLIMIT_AS allows no more */
    void* memory = (void*)syscall(SYS_mmap, NULL, (size_t)sizeof(live_tag[LIVE_SLOTS]) << bits,
                                  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    live_mask = ((uint64_t)1 << bits) - 1;
    live_buckets = memory;
    return 1;
  }
  return 0;
}

static live_tag* slot_of(uint64_t address) {
  live_tag* bucket = live_bucket_of(address);
  for (int i = 0; i < LIVE_SLOTS; i++)
    if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) == live_tag_of(address)) return &bucket[i];
  return NULL;
}

void live_watch(const void* block) {
  __atomic_fetch_add(live_count_of(block), 1, __ATOMIC_RELAXED);
}

int live_insert(const void* block) {
  const uint64_t address = (uint64_t)block;
  if (live_may_hold(block)) {
    if (slot_of(address) != NULL) return 1; /* its free went past us */
    if (__atomic_load_n(live_count_of(block), __ATOMIC_RELAXED) >= MOST_COUNTED) return 0;
  }
  live_tag* bucket = live_bucket_of(address);
  for (int i = 0; i < LIVE_SLOTS; i++) {
    live_tag empty = 0;
    if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) == 0 &&
        __atomic_compare_exchange_n(&bucket[i], &empty, live_tag_of(address), 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
      live_watch(block);
      return 1;
    }
  }
  return 0;
}

int live_remove(const void* block) {
  live_tag* slot = slot_of((uint64_t)block);
  if (slot == NULL) return 0;
  __atomic_store_n(slot, 0, __ATOMIC_RELAXED);
  __atomic_fetch_sub(live_count_of(block), 1, __ATOMIC_RELAXED);
  return 1;
}
