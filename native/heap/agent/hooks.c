/* The functions that the program calls instead of libc's: the call itself, then its record. operator new and
   delete come here through libstdc++. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include "heap/agent/agent.h"

/* True for most blocks: they are not recorded, and nothing else is asked. False until this thread knows what
   is, so that the real functions are known where it is true. Without a jump on the size, which would be
   guessed wrong often. Six instructions: the count is below zero then, until allocated() sets it right. */
static inline __attribute__((always_inline)) int passed_over(size_t size) {
  return LIKELY(--thread.pass[size >= process.always_from] >= 0);
}

/* The ways of blocks that were not passed over. Each is jumped to with its caller's frame as it was: the
   call chain begins there. */
#define CHOSEN static __attribute__((noinline))

static inline __attribute__((always_inline)) void* allocated(const void* frame, void* block, size_t size) {
  thread.pass[size >= process.always_from] = 0;
  if (process.always_from == SIZE_MAX)
    thread.pass[0] = INT32_MAX;
  else if (block != NULL && process_ready())
    record_allocate(frame, block, size);
  return block;
}

static inline void* considered(const void* frame, void* block, size_t size) {
  return passed_over(size) ? block : allocated(frame, block, size);
}

CHOSEN void* malloc_chosen(size_t size) {
  if (UNLIKELY(!real_ready())) return early_allocate(size, 16);
  return allocated(FRAME, real.malloc(size), size);
}

AGENT_EXPORT void* malloc(size_t size) {
  if (LIKELY(passed_over(size))) return real.malloc(size);
  return malloc_chosen(size);
}

/* True where a record of the block was removed. */
static int freed(const void* frame, const void* block) {
  return block != NULL && process.file != NULL && record_free(frame, block);
}

__attribute__((noinline)) void free_watched(void* block) {
  if (early_owns(block) || !real_ready()) return;
  freed(FRAME, block);
  real.free(block);
}

AGENT_EXPORT void free(void* block) {
  if (LIKELY(!live_may_hold(block)))
    real.free(block);
  else
    free_watched(block);
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

CHOSEN void* calloc_chosen(size_t count, size_t size) {
  size_t total = 0;
  const int overflow = __builtin_mul_overflow(count, size, &total);
  if (UNLIKELY(!real_ready())) return overflow ? NULL : early_allocate(total, 16); /* static memory is zero */
  return allocated(FRAME, real.calloc(count, size), total);
}

AGENT_EXPORT void* calloc(size_t count, size_t size) {
  if (LIKELY(passed_over(count * size))) return real.calloc(count, size); /* which sees the overflow */
  return calloc_chosen(count, size);
}

/* The old block's end is recorded before it may become somebody else's; where the call fails it lives on, as
   a block recorded anew. */
static void* reallocated(const void* frame, void* old, size_t size) {
  const int recorded = freed(frame, old);
  void* block = real.realloc(old, size);
  if (block != NULL) return considered(frame, block, size);
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

CHOSEN void* realloc_chosen(void* old, size_t size) {
  if (UNLIKELY(!real_ready())) {
    void* block = early_allocate(size, 16);
    if (block != NULL && old != NULL) memcpy(block, old, early_size(old) < size ? early_size(old) : size);
    return block;
  }
  if (UNLIKELY(early_owns(old))) return moved_from_early(old, size);
  return reallocated(FRAME, old, size);
}

static inline __attribute__((always_inline)) void* resized(void* old, size_t size) {
  if (LIKELY(!live_may_hold(old)) && LIKELY(passed_over(size))) return real.realloc(old, size);
  return realloc_chosen(old, size);
}

AGENT_EXPORT void* realloc(void* old, size_t size) {
  return resized(old, size);
}

AGENT_EXPORT void* reallocarray(void* old, size_t count, size_t size) {
  size_t total = 0;
  if (!__builtin_mul_overflow(count, size, &total)) return resized(old, total);
  errno = ENOMEM;
  return NULL;
}

AGENT_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  if (UNLIKELY(!real_ready())) return early_allocate(size, alignment);
  return considered(FRAME, real.aligned_alloc(alignment, size), size);
}

AGENT_EXPORT void* memalign(size_t alignment, size_t size) {
  if (UNLIKELY(!real_ready())) return early_allocate(size, alignment);
  return considered(FRAME, real.memalign(alignment, size), size);
}

AGENT_EXPORT int posix_memalign(void** block, size_t alignment, size_t size) {
  if (UNLIKELY(!real_ready())) return (*block = early_allocate(size, alignment)) == NULL ? ENOMEM : 0;
  const int result = real.posix_memalign(block, alignment, size);
  if (result == 0) considered(FRAME, *block, size);
  return result;
}

AGENT_EXPORT void* valloc(size_t size) {
  if (UNLIKELY(!real_ready())) return NULL;
  return considered(FRAME, real.valloc(size), size);
}

AGENT_EXPORT void* pvalloc(size_t size) {
  if (UNLIKELY(!real_ready())) return NULL;
  return considered(FRAME, real.pvalloc(size), (size + HEAP_PAGE - 1) & ~(size_t)(HEAP_PAGE - 1));
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
