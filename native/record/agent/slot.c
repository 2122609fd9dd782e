/* A thread's slot: its entry, and its ring, mapped. What is written into it reaches the recorder, whatever
   becomes of the program. The file is opened only to map a ring, since programs close and reuse descriptors
   as they like. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/sampler.h"

/* Some file systems cannot reserve: there the pages are written. */
static int write_zeros(int fd, uint64_t offset) {
  static const char zeros[SAMPLER_PAGE];
  for (uint64_t done = 0; done < SAMPLER_RING_BYTES; done += SAMPLER_PAGE)
    if (direct(SYS_pwrite64, fd, zeros, SAMPLER_PAGE, offset + done) != SAMPLER_PAGE) return -1;
  return 0;
}

/* The disk's blocks are taken now: a write to a page without one would be a SIGBUS in the program. */
static int reserve_on_disk(int fd, uint64_t offset) {
  int result = 0;
  do result = (int)direct(SYS_fallocate, fd, 0, offset, (uint64_t)SAMPLER_RING_BYTES);
  while (result != 0 && errno == EINTR);
  if (result != 0 && errno == EOPNOTSUPP) result = write_zeros(fd, offset);
  if (result != 0) __atomic_store_n(&process.file->full, 1, __ATOMIC_RELAXED);
  return result == 0;
}

static unsigned char* map_ring(uint64_t index, int is_new) {
  const uint64_t offset = SAMPLER_RINGS_AT + index * SAMPLER_RING_BYTES;
  const int fd = (int)direct(SYS_openat, AT_FDCWD, process.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd < 0) return NULL;
  void* ring = MAP_FAILED;
  if (!is_new || reserve_on_disk(fd, offset))
    ring = (void*)direct(SYS_mmap, NULL, SAMPLER_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  direct(SYS_close, fd);
  return ring == MAP_FAILED ? NULL : ring;
}

/* An entry's numbers are its thread's to write, and others read them, in this process and in the recorder:
   each alone, which `state` and `busy` put in order. */

/* One that the image before this one (exec) left behind, else a free one. */
static int64_t take_existing(uint64_t made) {
  int64_t found = -1;
  for (uint64_t i = 0; i < made; i++) {
    const struct sampler_slot* slot = &process.slots[i];
    const uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
    if (state == SLOT_USED && __atomic_load_n(&slot->pid, __ATOMIC_RELAXED) == process.pid &&
        __atomic_load_n(&slot->tid, __ATOMIC_RELAXED) == thread.tid)
      return (int64_t)i;
    if (state == SLOT_FREE && found < 0) found = (int64_t)i;
  }
  uint32_t expected = SLOT_FREE;
  if (found < 0 || !__atomic_compare_exchange_n(&process.slots[found].state, &expected, SLOT_USED, 0,
                                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return -1;
  return found;
}

static int64_t take_new(void) {
  if (__atomic_load_n(&process.file->full, __ATOMIC_RELAXED) != 0) return -1;
  const uint64_t index = __atomic_fetch_add(&process.file->slots_made, 1, __ATOMIC_ACQ_REL);
  if (index < SAMPLER_SLOTS) return (int64_t)index;
  __atomic_store_n(&process.file->slots_made, SAMPLER_SLOTS, __ATOMIC_RELAXED);
  return -1;
}

int slot_take(void) {
  if (thread.slot != NULL) return 1;
  if (thread.tid == 0) thread.tid = (uint32_t)direct(SYS_gettid);
  thread.generation = process.generation;
  uint64_t made = __atomic_load_n(&process.file->slots_made, __ATOMIC_ACQUIRE);
  if (made > SAMPLER_SLOTS) made = SAMPLER_SLOTS;
  int64_t index = take_existing(made);
  const int is_new = index < 0;
  if (is_new) index = take_new();
  unsigned char* ring = index < 0 ? NULL : map_ring((uint64_t)index, is_new);
  if (ring == NULL) {
    if (index >= 0 && !is_new) __atomic_store_n(&process.slots[index].state, SLOT_ENDED, __ATOMIC_RELEASE);
    __atomic_fetch_add(&process.file->unsampled, 1, __ATOMIC_RELAXED);
    thread.ended = 1;
    return 0;
  }
  struct sampler_slot* slot = &process.slots[index];
  __atomic_store_n(&slot->tid, thread.tid, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->timer, thread.armed ? (uint32_t)thread.timer + 1 : 0, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->foreign, process.foreign, __ATOMIC_RELAXED);
  /* Behind the thread's number: of the one before, which is dead, the recorder would give the entry away. */
  __atomic_store_n(&slot->pid, process.pid, __ATOMIC_RELEASE);
  __atomic_store_n(&slot->busy, 0, __ATOMIC_RELEASE);
  /* Only now has a new one its place: a thread that took it before would write beyond the file, a SIGBUS. */
  __atomic_store_n(&slot->state, SLOT_USED, __ATOMIC_RELEASE);
  thread.ring = ring;
  thread.slot = slot;
  return 1;
}

void slot_begin(void) {
  /* Before the clock is read: the recorder takes a slot that is not busy for one that has written all. */
  __atomic_exchange_n(&thread.slot->busy, 1, __ATOMIC_SEQ_CST);
}

void slot_end(void) {
  __atomic_store_n(&thread.slot->busy, 0, __ATOMIC_RELEASE);
}

void* slot_reserve(uint32_t size) {
  struct sampler_slot* slot = thread.slot;
  const uint64_t head = slot->head, tail = __atomic_load_n(&slot->tail, __ATOMIC_ACQUIRE);
  const uint64_t at = head % SAMPLER_RING_BYTES, left = SAMPLER_RING_BYTES - at;
  const uint64_t skipped = left < size ? left : 0;
  if (head - tail + skipped + size > SAMPLER_RING_BYTES) return NULL;
  if (skipped == 0) return thread.ring + at;
  *(struct perf_event_header*)(thread.ring + at) =
      (struct perf_event_header){.type = SAMPLER_PADDING, .misc = 0, .size = (uint16_t)skipped};
  __atomic_store_n(&slot->head, head + skipped, __ATOMIC_RELEASE);
  return thread.ring;
}

void slot_commit(uint32_t size) {
  __atomic_store_n(&thread.slot->head, thread.slot->head + size, __ATOMIC_RELEASE);
}

static void unmap(void) {
  if (thread.ring != NULL) direct(SYS_munmap, thread.ring, (size_t)SAMPLER_RING_BYTES);
  thread.ring = NULL;
  thread.slot = NULL;
}

void slot_release(void) {
  struct sampler_slot* slot = thread.slot;
  unmap();
  if (slot != NULL) __atomic_store_n(&slot->state, SLOT_ENDED, __ATOMIC_RELEASE);
}

void slot_forget(void) {
  unmap();
  thread.tid = 0;
  thread.armed = thread.ended = thread.inside = thread.left_out = thread.jump_counted = 0;
  thread.creator = 0;
}
