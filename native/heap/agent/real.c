/* The functions that ours stand in front of, and the few blocks that are asked for before they are known. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>
#include <string.h>

#include "heap/agent/agent.h"

struct real_functions real = {.free = free_watched};

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
  live_watch((void*)block); /* free is to look at it */
  return (void*)block;
}

size_t early_size(const void* block) {
  return ((const size_t*)block)[-1];
}

static void* next(const char* name) {
  return dlsym(RTLD_NEXT, name);
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
  found.pthread_getattr_np = next("pthread_getattr_np");
  void* (*const last)(size_t) = found.malloc;
  found.malloc = NULL;
  real = found;
  __atomic_store_n(&real.malloc, last, __ATOMIC_RELEASE); /* the one that is asked whether all are known */
  atomic_store_explicit(&looked_up, 2, memory_order_release);
  return 1;
}
