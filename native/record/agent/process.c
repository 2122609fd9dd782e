/* This process in the recording: finding the file, starting, and starting again in a forked child. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/sampler.h"

struct sampler_process process;
__thread struct sampler_thread thread;

static atomic_int state; /* 0 not tried, 1 being set up, 2 it is sampled, 3 it is not */

uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct sampler_file_header* map_file(void) {
  const char* path = getenv("CACHELINE_SAMPLER");
  if (path == NULL || *path == 0 || strlen(path) >= PATH_MAX) return NULL;
  static char copy[PATH_MAX];
  strcpy(copy, path);
  process.path = copy;
  const int fd = (int)direct(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd < 0) return NULL;
  struct sampler_file_header* file =
      (void*)direct(SYS_mmap, NULL, SAMPLER_RINGS_AT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  direct(SYS_close, fd);
  if (file == MAP_FAILED) return NULL;
  if (file->magic == SAMPLER_MAGIC && file->version == SAMPLER_VERSION && file->slots == SAMPLER_SLOTS)
    return file;
  direct(SYS_munmap, file, SAMPLER_RINGS_AT);
  return NULL;
}

static void find_self(void) {
  struct stat namespace;
  process.pid = (uint32_t)direct(SYS_getpid);
  process.foreign = direct(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &namespace, 0) != 0 ||
                    namespace.st_ino != process.file->pid_namespace;
}

/* The image's mappings and its name, before anything of it is sampled. */
static void announce(uint32_t type_of_start) {
  const uint32_t parent = (uint32_t)direct(SYS_getppid);
  thread.inside = 1;
  if (slot_take()) {
    slot_begin();
    const uint64_t time = now_ns();
    put_task(PERF_RECORD_FORK, parent, parent, time);
    put_name(type_of_start == PERF_RECORD_COMM, time);
    if (type_of_start == PERF_RECORD_COMM) maps_record(time);
    slot_end();
  }
  thread.inside = 0;
}

static void after_fork_in_child(void) {
  const int saved = errno;
  process.generation++;
  find_self();
  slot_forget();
  maps_forked();
  if (!process_ended()) {
    announce(PERF_RECORD_FORK);
    thread_begin(0);
  }
  errno = saved;
}

static void end_sampling(void) {
  atomic_store_explicit(&process.ended, 1, memory_order_relaxed);
}

static int set_up(void) {
  struct sampler_file_header* file = map_file();
  if (file == NULL) return 0;
  process.file = file;
  process.slots = (struct sampler_slot*)((char*)file + SAMPLER_PAGE);
  find_self();
  process.generation = 1;
  __atomic_fetch_add(&file->images, 1, __ATOMIC_RELAXED);
  if (go_is_loaded() || go_is_program()) {
    __atomic_fetch_add(&file->go, 1, __ATOMIC_RELAXED);
    end_sampling();
    return 0;
  }
  if (!threads_prepare() || !timer_prepare()) {
    __atomic_fetch_add(&file->unsampled, 1, __ATOMIC_RELAXED);
    end_sampling();
    return 0;
  }
  pthread_atfork(NULL, NULL, after_fork_in_child);
  announce(PERF_RECORD_COMM);
  thread_begin(0);
  return 1;
}

int process_ready(void) {
  const int known = atomic_load_explicit(&state, memory_order_acquire);
  if (LIKELY(known != 0)) return known == 2 && !process_ended();
  int none = 0;
  if (environ == NULL || !atomic_compare_exchange_strong(&state, &none, 1)) return 0;
  const int saved = errno;
  const int sampled = set_up();
  errno = saved;
  atomic_store_explicit(&state, sampled ? 2 : 3, memory_order_release);
  return sampled;
}

static void stop_all(uint64_t* count) {
  end_sampling();
  __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
  for (uint64_t i = 0; i < SAMPLER_SLOTS; i++) {
    const struct sampler_slot* slot = &process.slots[i];
    if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != SLOT_USED) continue;
    if (__atomic_load_n(&slot->pid, __ATOMIC_RELAXED) != process.pid) continue;
    const uint32_t timer = __atomic_load_n(&slot->timer, __ATOMIC_RELAXED);
    if (timer != 0) direct(SYS_timer_delete, timer - 1);
  }
  timer_disarm();
}

void process_seal(void) {
  if (!process_ready() || process.pid != (uint32_t)direct(SYS_getpid)) return; /* a child of vfork */
  const int saved = errno;
  stop_all(&process.file->sealed);
  errno = saved;
}

/* Threads without a slot may yet get a signal: it comes on their alternate stack, and takes no sample. */
void process_leave(void) {
  const int saved = errno;
  stop_all(&process.file->go);
  errno = saved;
}

/* Other threads may go on for a moment: they write nothing more, since the process has said its end. */
__attribute__((destructor)) static void end(void) {
  if (!process_ready() || process.pid != (uint32_t)direct(SYS_getpid)) return;
  timer_disarm();
  end_sampling();
  if (thread.slot == NULL || thread.generation != process.generation) return;
  thread.inside = 1;
  slot_begin();
  const uint32_t parent = (uint32_t)direct(SYS_getppid);
  if (thread.tid == process.pid) put_task(PERF_RECORD_EXIT, parent, parent, now_ns());
  slot_end();
  slot_release();
}
