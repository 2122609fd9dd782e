/* The table of recorded blocks that were not freed yet. Neighbours in memory are neighbours in the table, so
   that it touches a sixteenth of the memory that the blocks themselves do. No locks: only who frees a block
   removes it. */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heap/agent/agent.h"

#define MOST_BITS 20 /* 80 MiB of addresses, of which only what is used becomes memory */
#define FEWEST_BITS 14
#define MOST_COUNTED 128 /* leaves room for all threads that add one at the same time */

/* Behind the buckets are a quarter as many lines for what has no place in its bucket: a KiB has up to 64 of
   the smallest blocks. Few KiB have so many, so they share these lines. */
#define SPILL_SHARE 4
#define SPILL_LINES 3

unsigned char live_counts[LIVE_COUNTS];
live_tag (*live_buckets)[LIVE_SLOTS];
uint64_t live_mask;
static int spilled; /* 1: not all of them are in their buckets */

int live_prepare(void) {
  if (live_buckets != NULL) return 1;
  for (unsigned bits = MOST_BITS; bits >= FEWEST_BITS; bits--) { /* less where RLIMIT_AS allows no more */
    const size_t size = (size_t)sizeof(live_tag[LIVE_SLOTS]) << bits;
    void* memory = (void*)syscall(SYS_mmap, NULL, size + size / SPILL_SHARE, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    live_mask = ((uint64_t)1 << bits) - 1;
    live_buckets = memory;
    return 1;
  }
  return 0;
}

static live_tag* spill_line(uint64_t address, unsigned number) {
  const uint64_t lines = (live_mask + 1) / SPILL_SHARE;
  const uint64_t line = live_hash(address) * SPILL_LINES + number;
  return live_buckets[live_mask + 1 + (line & (lines - 1))];
}

static live_tag* slot_in(live_tag* line, live_tag tag) {
  for (int i = 0; i < LIVE_SLOTS; i++)
    if (__atomic_load_n(&line[i], __ATOMIC_RELAXED) == tag) return &line[i];
  return NULL;
}

static live_tag* slot_of(uint64_t address) {
  const live_tag tag = live_tag_of(address);
  live_tag* slot = slot_in(live_bucket_of(address), tag);
  if (LIKELY(slot != NULL) || LIKELY(!__atomic_load_n(&spilled, __ATOMIC_RELAXED))) return slot;
  for (unsigned i = 0; i < SPILL_LINES && slot == NULL; i++) slot = slot_in(spill_line(address, i), tag);
  return slot;
}

/* False where the line is full. */
static int put_in(live_tag* line, live_tag tag) {
  for (int i = 0; i < LIVE_SLOTS; i++) {
    live_tag empty = 0;
    if (__atomic_load_n(&line[i], __ATOMIC_RELAXED) == 0 &&
        __atomic_compare_exchange_n(&line[i], &empty, tag, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return 1;
  }
  return 0;
}

static int spill(uint64_t address) {
  __atomic_store_n(&spilled, 1, __ATOMIC_RELAXED); /* before another thread can free it */
  for (unsigned i = 0; i < SPILL_LINES; i++)
    if (put_in(spill_line(address, i), live_tag_of(address))) return 1;
  return 0;
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
  if (UNLIKELY(!put_in(live_bucket_of(address), live_tag_of(address))) && !spill(address)) return 0;
  live_watch(block);
  return 1;
}

int live_remove(const void* block) {
  live_tag* slot = slot_of((uint64_t)block);
  if (slot == NULL) return 0;
  __atomic_store_n(slot, 0, __ATOMIC_RELAXED);
  __atomic_fetch_sub(live_count_of(block), 1, __ATOMIC_RELAXED);
  return 1;
}
