/* The functions that the program calls instead of libc's: the call itself, then its record. operator new and
   delete come here through libstdc++. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include "heap/agent/agent.h"

/* One multiplication: this is asked for every block. */
static inline int is_sampled(const void* block) {
  return (((uint64_t)block >> 4) ^ process.salt) * 0x9e3779b97f4a7c15ull < process.sample_below;
}

/* Small blocks are chosen by address, so that most frees can tell without a look-up that there is nothing to
 * do. */
static inline __attribute__((always_inline)) void* allocated(const void* frame, void* block, size_t size) {
  const int large = size >= process.always_from;
  if (LIKELY(!large && !is_sampled(block))) return block;
  if (thread.skip[large] != 0)
    thread.skip[large]--;
  else if (block != NULL && (LIKELY(process.file != NULL) || process_ready()))
    record_allocate(frame, block, size);
  return block;
}

/* True where the block may have been recorded. */
static inline __attribute__((always_inline)) int may_be_recorded(const void* block) {
  if (LIKELY(real_header_words)) {
    const size_t usable = (((const size_t*)block)[-1] & ~(size_t)7) - sizeof(size_t);
    return usable >= process.always_from || is_sampled(block);
  }
  return 1;
}

/* True where a record of the block was removed. */
static inline int freed(const void* block) {
  return block != NULL && process.file != NULL && may_be_recorded(block) && record_free(block);
}

static __attribute__((noinline)) void free_recorded(void* block) {
  if (process.file != NULL && live_holds((uint64_t)block)) record_free(block);
  real.free(block);
}

static __attribute__((noinline, cold)) void free_unusual(void* block) {
  if (block != NULL && !early_owns(block) && real_ready()) real.free(block);
}

AGENT_EXPORT void* malloc(size_t size) {
  if (UNLIKELY(!real_ready())) return early_allocate(size, 16);
  return allocated(FRAME, real.malloc(size), size);
}

/* Nothing but tests and jumps for most blocks. */
AGENT_EXPORT void free(void* block) {
  if (UNLIKELY(block == NULL) || early_owns(block) || UNLIKELY(real.malloc == NULL))
    free_unusual(block);
  else if (may_be_recorded(block))
    free_recorded(block);
  else
    real.free(block);
}

AGENT_EXPORT void free_sized(void* block, size_t size) {
  (void)size;
  free(block);
}

AGENT_EXPORT void free_aligned_sized(void* block, size_t alignment, size_t size) {
  (void)alignment;
  (void)size;
  free(block);
}

AGENT_EXPORT void* calloc(size_t count, size_t size) {
  size_t total = 0;
  const int overflow = __builtin_mul_overflow(count, size, &total);
  if (UNLIKELY(!real_ready())) return overflow ? NULL : early_allocate(total, 16); /* static memory is zero */
  return allocated(FRAME, real.calloc(count, size), total);
}

/* The old block's end is recorded before it may become somebody else's; where the call fails it lives on, as
   a block recorded anew. */
static void* reallocated(const void* frame, void* old, size_t size) {
  const int recorded = freed(old);
  void* block = real.realloc(old, size);
  if (block != NULL) return allocated(frame, block, size);
  if (recorded && size != 0) {
    const int saved = errno;
    record_allocate(frame, old, real.malloc_usable_size != NULL ? real.malloc_usable_size(old) : 1);
    errno = saved;
  }
  return NULL;
}

static void* moved_from_early(const void* old, size_t size) {
  void* block = real.malloc(size);
  if (block != NULL) memcpy(block, old, early_size(old) < size ? early_size(old) : size);
  return block;
}

AGENT_EXPORT void* realloc(void* old, size_t size) {
  if (UNLIKELY(!real_ready())) {
    void* block = early_allocate(size, 16);
    if (block != NULL && old != NULL) memcpy(block, old, early_size(old) < size ? early_size(old) : size);
    return block;
  }
  if (UNLIKELY(early_owns(old))) return moved_from_early(old, size);
  return reallocated(FRAME, old, size);
}

AGENT_EXPORT void* reallocarray(void* old, size_t count, size_t size) {
  size_t total = 0;
  if (__builtin_mul_overflow(count, size, &total)) {
    errno = ENOMEM;
    return NULL;
  }
  if (UNLIKELY(!real_ready())) return NULL;
  if (UNLIKELY(early_owns(old))) return moved_from_early(old, total);
  return reallocated(FRAME, old, total);
}

AGENT_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  if (UNLIKELY(!real_ready())) return early_allocate(size, alignment);
  return allocated(FRAME, real.aligned_alloc(alignment, size), size);
}

AGENT_EXPORT void* memalign(size_t alignment, size_t size) {
  if (UNLIKELY(!real_ready())) return early_allocate(size, alignment);
  return allocated(FRAME, real.memalign(alignment, size), size);
}

AGENT_EXPORT int posix_memalign(void** block, size_t alignment, size_t size) {
  if (UNLIKELY(!real_ready())) return (*block = early_allocate(size, alignment)) == NULL ? ENOMEM : 0;
  const int result = real.posix_memalign(block, alignment, size);
  if (result == 0) allocated(FRAME, *block, size);
  return result;
}

AGENT_EXPORT void* valloc(size_t size) {
  if (UNLIKELY(!real_ready())) return NULL;
  return allocated(FRAME, real.valloc(size), size);
}

AGENT_EXPORT void* pvalloc(size_t size) {
  if (UNLIKELY(!real_ready())) return NULL;
  return allocated(FRAME, real.pvalloc(size), (size + HEAP_PAGE - 1) & ~(size_t)(HEAP_PAGE - 1));
}

AGENT_EXPORT void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  if (UNLIKELY(!real_ready())) return MAP_FAILED;
  void* place = real.mmap(address, size, protection, flags, fd, offset);
  if (place != MAP_FAILED && process_ready()) record_map(FRAME, place, size);
  return place;
}

AGENT_EXPORT void* mmap64(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  if (UNLIKELY(!real_ready())) return MAP_FAILED;
  void* place = real.mmap(address, size, protection, flags, fd, offset);
  if (place != MAP_FAILED && process_ready()) record_map(FRAME, place, size);
  return place;
}

AGENT_EXPORT int munmap(void* address, size_t size) {
  if (UNLIKELY(!real_ready())) {
    errno = ENOMEM;
    return -1;
  }
  if (process_ready()) record_unmap(address, size);
  return real.munmap(address, size);
}

AGENT_EXPORT void* mremap(void* old, size_t old_size, size_t size, int flags, ...) {
  if (UNLIKELY(!real_ready())) return MAP_FAILED;
  va_list arguments;
  va_start(arguments, flags);
  void* wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : NULL;
  va_end(arguments);
  const int recording = process_ready();
  if (recording) record_unmap(old, old_size);
  void* place = real.mremap(old, old_size, size, flags, wanted);
  if (recording) {
    if (place == MAP_FAILED)
      record_map(FRAME, old, old_size);
    else
      record_map(FRAME, place, size);
  }
  return place;
}
