/* A thread's chunk of the file, mapped: what is written into it is in the recording, whatever becomes of the
   program. The file is opened only to map a chunk, since programs close and reuse descriptors as they like.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heap/agent/agent.h"

#define POPULATE_WRITE 23 /* MADV_POPULATE_WRITE, Linux 5.14: one fault instead of one a page */
#define FIRST_PAGES 4     /* most threads of most programs allocate little */
#define NEXT_PAGES 64
#define POOL 64
#define END_ROUNDS 4 /* PTHREAD_DESTRUCTOR_ITERATIONS of glibc */

static _Atomic(struct heap_chunk_header*) pool[POOL]; /* of threads that have ended */
static pthread_key_t at_end;
static int has_key;

/* Other destructors of this thread may still allocate: only the last round is the end. */
static void on_end(void* round) {
  const uintptr_t next = (uintptr_t)round + 1;
  if (next <= END_ROUNDS && pthread_setspecific(at_end, (void*)next) == 0) return;
  thread.ended = 1;
  record_end();
  stream_settle();
}

void stream_prepare(void) {
  has_key = pthread_key_create(&at_end, on_end) == 0;
}

static void use_chunk(struct heap_chunk_header* chunk, uint64_t words_used) {
  thread.chunk = chunk;
  thread.generation = process.generation;
  thread.cursor = (uint64_t*)chunk + words_used;
  thread.end = (uint64_t*)((char*)chunk + (size_t)chunk->pages * HEAP_PAGE);
}

static void unmap(struct heap_chunk_header* chunk) {
  syscall(SYS_munmap, chunk, (size_t)chunk->pages * HEAP_PAGE);
}

static int write_zeros(int fd, uint64_t offset, uint64_t bytes) {
  static char zeros[NEXT_PAGES * HEAP_PAGE]; /* never written: all of it is one page of the kernel's */
  for (uint64_t done = 0; done < bytes;) {
    const long written = syscall(SYS_pwrite64, fd, zeros, bytes - done, offset + done);
    if (written > 0)
      done += (uint64_t)written;
    else if (written == 0 || errno != EINTR)
      return 0;
  }
  return 1;
}

/* The disk's blocks are taken now: a write to a page without one would be a SIGBUS in the program. Some file
   systems cannot reserve: there the zeros do it. Elsewhere they are written as well, since one call for all
   pages brings them into memory at a third of what their faults cost. */
static int reserve_on_disk(int fd, uint64_t offset, uint64_t bytes) {
  int result = 0;
  do result = (int)syscall(SYS_fallocate, fd, 0, offset, bytes);
  while (result != 0 && errno == EINTR);
  const int reserved = (result == 0 || errno == EOPNOTSUPP) && write_zeros(fd, offset, bytes);
  if (!reserved) __atomic_store_n(&process.file->full, 1, __ATOMIC_RELAXED);
  return reserved;
}

static struct heap_chunk_header* map_chunk(int fd, uint64_t offset, uint64_t bytes) {
  if (!reserve_on_disk(fd, offset, bytes)) return NULL;
  void* memory = (void*)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  if (memory == MAP_FAILED) return NULL;
  syscall(SYS_madvise, memory, bytes, POPULATE_WRITE);
  return memory;
}

static int new_chunk(uint64_t pages) {
  struct heap_file_header* file = process.file;
  /* Frees may go a quarter beyond the limit at which blocks end: a block whose end is missing would look
   * alive. */
  const uint64_t most = file->limit_pages + file->limit_pages / 4;
  if (__atomic_load_n(&file->next_page, __ATOMIC_RELAXED) + pages > most) return 0;
  if (__atomic_load_n(&file->full, __ATOMIC_RELAXED) != 0) return 0;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, process.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd < 0) return 0;
  const uint64_t page = __atomic_fetch_add(&file->next_page, pages, __ATOMIC_RELAXED);
  struct heap_chunk_header* chunk = map_chunk(fd, page * HEAP_PAGE, pages * HEAP_PAGE);
  syscall(SYS_close, fd);
  if (chunk == NULL) return 0;
  chunk->offset = page * HEAP_PAGE;
  chunk->pages = (uint32_t)pages;
  chunk->pid = process.pid;
  chunk->tid = thread.tid;
  chunk->opened = anchor_now();
  __atomic_store_n(&chunk->magic, HEAP_CHUNK_MAGIC, __ATOMIC_RELEASE);
  use_chunk(chunk, sizeof *chunk / sizeof(uint64_t));
  return 1;
}

static int take_from_pool(void) {
  for (int i = 0; i < POOL; i++) {
    if (atomic_load_explicit(&pool[i], memory_order_relaxed) == NULL) continue;
    struct heap_chunk_header* chunk = atomic_exchange(&pool[i], NULL);
    if (chunk == NULL) continue;
    use_chunk(chunk, chunk->resume);
    if (thread.cursor == thread.end) {
      unmap(chunk);
      continue;
    }
    uint64_t* record = thread.cursor++;
    stream_commit(record, HEAP_THREAD, 1, thread.tid);
    return 1;
  }
  return 0;
}

static int next_chunk(void) {
  const int first = thread.chunk == NULL;
  if (!first) {
    unmap(thread.chunk);
    thread.chunk = NULL;
  }
  if (thread.tid == 0) {
    thread.tid = (uint32_t)syscall(SYS_gettid);
    if (has_key) pthread_setspecific(at_end, (void*)1);
  }
  if (first && take_from_pool()) return 1;
  return new_chunk(first ? FIRST_PAGES : NEXT_PAGES);
}

uint64_t* stream_reserve_anew(uint32_t words) {
  if (thread.generation != process.generation) {
    if (thread.chunk != NULL) unmap(thread.chunk);
    thread.chunk = NULL;
    thread.tid = 0;
  }
  const int saved = errno;
  /* A chunk from the pool may be nearly full. */
  while (next_chunk() && (size_t)(thread.end - thread.cursor) < words) continue;
  errno = saved;
  if (thread.chunk == NULL) return NULL;
  uint64_t* record = thread.cursor;
  thread.cursor += words;
  return record;
}

void stream_give_away(void) {
  struct heap_chunk_header* chunk = thread.chunk;
  thread.chunk = NULL;
  if (thread.generation != process.generation) return unmap(chunk);
  chunk->resume = (uint32_t)(thread.cursor - (uint64_t*)chunk);
  for (int i = 0; i < POOL; i++) {
    struct heap_chunk_header* none = NULL;
    if (atomic_compare_exchange_strong(&pool[i], &none, chunk)) return;
  }
  unmap(chunk);
}

void stream_forget(void) {
  for (int i = 0; i < POOL; i++) {
    struct heap_chunk_header* chunk = atomic_exchange(&pool[i], NULL);
    if (chunk != NULL) unmap(chunk);
  }
}
