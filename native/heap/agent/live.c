/* The table of recorded blocks that were not freed yet. Neighbours in memory are neighbours in the table, so
   that it touches a sixteenth of the memory that the blocks themselves do. No locks: only who frees a block
   removes it. */
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heap/agent/agent.h"

#define SLOTS 16      /* a bucket is one cache line of tags */
#define COVER_BITS 10 /* of the heap: 1 KiB holds twelve blocks of 64 bytes, with glibc's header */
#define MOST_BITS 20  /* 64 MiB of addresses, of which only what is used becomes memory */
#define FEWEST_BITS 14

/* Bits 4 to 35 of an address: those that its bucket does not tell, and more. 0 is an empty slot. */
typedef uint32_t tag;
static inline tag tag_of(uint64_t address) {
  const tag low = (tag)(address >> 4);
  return low != 0 ? low : 1;
}

static tag (*buckets)[SLOTS];
static uint64_t mask;

int live_prepare(void) {
  if (buckets != NULL) return 1;
  for (unsigned bits = MOST_BITS; bits >= FEWEST_BITS; bits--) { /* less where RLIMIT_AS allows no more */
    void* memory = (void*)syscall(SYS_mmap, NULL, (size_t)sizeof(tag[SLOTS]) << bits, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    mask = ((uint64_t)1 << bits) - 1;
    buckets = memory;
    return 1;
  }
  return 0;
}

/* The higher bits keep the arenas of threads, 64 MiB apart, from meeting. */
static inline tag* bucket_of(uint64_t address) {
  return buckets[((address >> COVER_BITS) + (address >> 26) * 0x9e3779b1u) & mask];
}

typedef tag four __attribute__((vector_size(16), may_alias));
typedef uint64_t two __attribute__((vector_size(16)));

/* The slot with a tag, SLOTS where there is none: without branches until one of them matches. */
static inline int slot_of(const tag* bucket, tag wanted) {
  const four all = {wanted, wanted, wanted, wanted};
  const four* parts = (const four*)bucket;
  const two hits = (two)((parts[0] == all) | (parts[1] == all) | (parts[2] == all) | (parts[3] == all));
  if (LIKELY((hits[0] | hits[1]) == 0)) return SLOTS;
  for (int i = 0; i < SLOTS; i++)
    if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) == wanted) return i;
  return SLOTS;
}

int live_insert(uint64_t address) {
  tag* bucket = bucket_of(address);
  const tag wanted = tag_of(address);
  if (slot_of(bucket, wanted) != SLOTS) return 1; /* its free went past us */
  for (int i = 0; i < SLOTS; i++) {
    tag empty = 0;
    if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) == 0 &&
        __atomic_compare_exchange_n(&bucket[i], &empty, wanted, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return 1;
  }
  return 0;
}

int live_remove(uint64_t address) {
  tag* bucket = bucket_of(address);
  const int slot = slot_of(bucket, tag_of(address));
  if (slot == SLOTS) return 0;
  __atomic_store_n(&bucket[slot], 0, __ATOMIC_RELAXED);
  return 1;
}
