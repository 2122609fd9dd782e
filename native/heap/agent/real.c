/* The functions that ours stand in front of, and the few blocks that are asked for before they are known. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>
#include <string.h>

#include "heap/agent/agent.h"

struct real_functions real;
int real_header_words;

static atomic_int looked_up; /* 0 no, 1 going on, 2 done */

/* dlsym may allocate. These blocks are never given back. */
static _Alignas(64) unsigned char early[64 << 10];
static atomic_size_t early_used;

void* early_allocate(size_t size, size_t alignment) {
  const size_t before = alignment < 16 ? 16 : alignment;
  if (size > sizeof early || before > sizeof early) return NULL;
  const size_t used = atomic_fetch_add(&early_used, size + 2 * before);
  if (used > sizeof early - size - 2 * before || size + 2 * before > sizeof early) return NULL;
  const uintptr_t block = ((uintptr_t)early + used + 2 * before - 1) & ~(uintptr_t)(before - 1);
  ((size_t*)block)[-1] = size;
  return (void*)block;
}

int early_owns(const void* block) {
  return (uintptr_t)block - (uintptr_t)early < sizeof early;
}

size_t early_size(const void* block) {
  return ((const size_t*)block)[-1];
}

static void* next(const char* name) {
  return dlsym(RTLD_NEXT, name);
}

/* glibc keeps a block's size in the word before it: then a free of a small block needs no look into a table.
   Held against malloc_usable_size here, because it is no promise. */
static int has_header_words(void) {
  if (real.malloc_usable_size == NULL) return 0;
  for (size_t size = 1; size < 300; size += 37) {
    void* block = real.malloc(size);
    if (block == NULL) return 0;
    const size_t word = ((const size_t*)block)[-1] & ~(size_t)7;
    const size_t usable = real.malloc_usable_size(block);
    real.free(block);
    if (word - sizeof(size_t) != usable || usable < size || usable > size + 32) return 0;
  }
  return next("gnu_get_libc_version") != NULL;
}

int real_ready(void) {
  if (LIKELY(atomic_load_explicit(&looked_up, memory_order_acquire) == 2)) return 1;
  int none = 0;
  if (!atomic_compare_exchange_strong(&looked_up, &none, 1)) return none == 2;
  real.malloc = next("malloc");
  real.calloc = next("calloc");
  real.realloc = next("realloc");
  real.reallocarray = next("reallocarray");
  real.aligned_alloc = next("aligned_alloc");
  real.posix_memalign = next("posix_memalign");
  real.memalign = next("memalign");
  real.valloc = next("valloc");
  real.pvalloc = next("pvalloc");
  real.free = next("free");
  real.malloc_usable_size = next("malloc_usable_size");
  real.mmap = next("mmap");
  real.munmap = next("munmap");
  real.mremap = next("mremap");
  real_header_words = has_header_words();
  atomic_store_explicit(&looked_up, 2, memory_order_release);
  return 1;
}
