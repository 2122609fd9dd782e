/* This process in the recording: finding the file, starting, and starting again in a forked child. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "heap/agent/agent.h"
#include "heap/trace_format.h"

#define WIPE_ON_FORK 18 /* MADV_WIPEONFORK, Linux 4.14 */

#define MOST_SAMPLING (1u << 22) /* so that what record.c makes of it is a number of 32 bits */

struct agent_process process;
__thread struct agent_thread thread;

static atomic_int state; /* 0 not tried, 1 being set up, 2 it records, 3 it does not */
static volatile int no_marker = 1;

uint64_t monotonic_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The narrowest of a few attempts: an interrupt between the two clocks would bend the times around it. */
struct heap_anchor anchor_now(void) {
  struct heap_anchor best = {0, 0};
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < 3; i++) {
    const uint64_t before = ticks_now(), ns = monotonic_ns(), after = ticks_now();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best.ticks = before + (after - before) / 2;
    best.ns = ns;
  }
  return best;
}

static struct heap_file_header* map_file(void) {
  const char* path = getenv("CACHELINE_HEAP");
  if (path == NULL || *path == 0) return NULL;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd < 0) return NULL;
  static char copy[PATH_MAX];
  strncpy(copy, path, sizeof copy - 1);
  process.path = copy;
  struct heap_file_header* file =
      (void*)syscall(SYS_mmap, NULL, HEAP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (file == MAP_FAILED) return NULL;
  if (file->magic == HEAP_FILE_MAGIC && file->version == HEAP_VERSION && file->page == HEAP_PAGE) return file;
  syscall(SYS_munmap, file, HEAP_PAGE);
  return NULL;
}

static void announce(enum heap_kind kind, uint64_t pid, uint64_t ticks) {
  uint64_t* record = stream_reserve(2);
  if (record == NULL) return;
  record[1] = ticks;
  stream_commit(record, kind, 2, pid);
}

static void before_fork(void) {
  process.fork_ticks = ticks_now();
}
static void after_fork_in_parent(void) {
  process.fork_ticks = 0;
}
/* A child that never allocates still has its parent's blocks. */
static void after_fork_in_child(void) {
  thread.pass[0] = thread.pass[1] = 0;
  thread.passing[0] = thread.passing[1] = 0;
  if (thread.busy) return;
  thread.busy = 1;
  process_current();
  thread.busy = 0;
}

/* A page that is zero again in a child, however it was forked. */
static volatile int* make_marker(void) {
  void* page =
      (void*)syscall(SYS_mmap, NULL, HEAP_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || syscall(SYS_madvise, page, HEAP_PAGE, WIPE_ON_FORK) != 0) return &no_marker;
  *(volatile int*)page = 1;
  return page;
}

/* Nothing is recorded: a header of our own stands for the file. */
static int set_up_traced(void) {
  static struct heap_file_header none;
  process.always_from = process.trace->least;
  process.sampling = 1;
  process.marker = &no_marker;
  frame_rule_prepare();
  stacks_prepare();
  __atomic_store_n(&process.file, &none, __ATOMIC_RELEASE);
  return 1;
}

static int set_up(void) {
  if (traced_prepare()) {
    if (live_prepare()) return set_up_traced();
    process.always_from = SIZE_MAX;
    return 0;
  }
  struct heap_file_header* file = map_file();
  if (file == NULL || !live_prepare()) {
    process.always_from = SIZE_MAX;
    return 0;
  }
  process.pid = (uint32_t)syscall(SYS_getpid);
  process.generation = 1;
  process.tsc = file->tsc == 1;
  process.always_from = file->always_from;
  process.sampling = file->sampling > MOST_SAMPLING ? MOST_SAMPLING : (uint32_t)file->sampling;
  if (process.sampling == 0) process.sampling = 1;
  process.marker = make_marker();
  frame_rule_prepare();
  stacks_prepare();
  stream_prepare();
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  __atomic_fetch_add(&file->processes, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&process.file, file, __ATOMIC_RELEASE);
  announce(HEAP_IMAGE, process.pid, ticks_now());
  stream_settle();
  return 1;
}

int process_ready(void) {
  if (LIKELY(process.file != NULL)) return 1;
  if (atomic_load_explicit(&state, memory_order_acquire) != 0 || environ == NULL || thread.busy) return 0;
  int none = 0;
  if (!atomic_compare_exchange_strong(&state, &none, 1)) return 0;
  thread.busy = 1;
  const int saved = errno;
  const int recording = set_up();
  errno = saved;
  thread.busy = 0;
  atomic_store_explicit(&state, recording ? 2 : 3, memory_order_release);
  return recording;
}

int process_forked(void) {
  if (!__sync_bool_compare_and_swap(process.marker, 0, 2)) return 0; /* another thread is at it */
  const uint32_t parent = process.pid;
  const uint64_t ticks = process.fork_ticks != 0 ? process.fork_ticks : ticks_now();
  process.fork_ticks = 0;
  process.pid = (uint32_t)syscall(SYS_getpid);
  process.generation++;
  stream_forget();
  announce(HEAP_FORK, parent, ticks);
  *process.marker = 1;
  return 1;
}

__attribute__((destructor)) static void end(void) {
  if (process.file != NULL && process.trace == NULL) record_end();
}

__attribute__((constructor(101))) static void start(void) {
  if (real_ready()) process_ready();
}
