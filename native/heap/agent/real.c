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
_Alignas(64) unsigned char early_area[EARLY_BYTES];
static atomic_size_t early_used;

void* early_allocate(size_t size, size_t alignment) {
  const size_t before = alignment < 16 ? 16 : alignment;
  if (size > EARLY_BYTES || before > EARLY_BYTES) return NULL;
  const size_t used = atomic_fetch_add(&early_used, size + 2 * before);
  if (used > EARLY_BYTES - size - 2 * before || size + 2 * before > EARLY_BYTES) return NULL;
  const uintptr_t block = ((uintptr_t)early_area + used + 2 * before - 1) & ~(uintptr_t)(before - 1);
  ((size_t*)block)[-1] = size;
  return (void*)block;
}

size_t early_size(const void* block) {
  return ((const size_t*)block)[-1];
}

static void* next(const char* name) {
  return dlsym(RTLD_NEXT, name);
}

/* glibc keeps a block's size in the word before it: then a free of a small block needs no look into a table.
   Held against malloc_usable_size here, because it is no promise. */
static int has_header_words(const struct real_functions* found) {
  if (found->malloc_usable_size == NULL || next("gnu_get_libc_version") == NULL) return 0;
  for (size_t size = 1; size < 300; size += 37) {
    void* block = found->malloc(size);
    if (block == NULL) return 0;
    const size_t word = ((const size_t*)block)[-1] & ~(size_t)7;
    const size_t usable = found->malloc_usable_size(block);
    found->free(block);
    if (word - sizeof(size_t) != usable || usable < size || usable > size + 32) return 0;
  }
  return 1;
}

int real_look_up(void) {
  int none = 0;
  if (!atomic_compare_exchange_strong(&looked_up, &none, 1)) return none == 2;
  struct real_functions found;
  found.malloc = next("malloc");
  found.calloc = next("calloc");
  found.realloc = next("realloc");
  found.reallocarray = next("reallocarray");
  found.aligned_alloc = next("aligned_alloc");
  found.posix_memalign = next("posix_memalign");
  found.memalign = next("memalign");
  found.valloc = next("valloc");
  found.pvalloc = next("pvalloc");
  found.free = next("free");
  found.malloc_usable_size = next("malloc_usable_size");
  found.mmap = next("mmap");
  found.munmap = next("munmap");
  found.mremap = next("mremap");
  real_header_words = has_header_words(&found);
  void* (*const last)(size_t) = found.malloc;
  found.malloc = NULL;
  real = found;
  __atomic_store_n(&real.malloc, last, __ATOMIC_RELEASE); /* the one that is asked whether all are known */
  atomic_store_explicit(&looked_up, 2, memory_order_release);
  return 1;
}
