/* Traces: asks the recorder about blocks that may be of the traced type, and waits until they are watched. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "heap/agent/agent.h"
#include "heap/trace_format.h"

#define REFUSED 4096u /* call chains that are remembered */

static _Atomic uint64_t refused[REFUSED]; /* their hashes */

static uint32_t state_of(struct trace_box* box) {
  return __atomic_load_n(&box->state, __ATOMIC_ACQUIRE);
}

static int change(struct trace_box* box, uint32_t from, uint32_t to) {
  return __atomic_compare_exchange_n(&box->state, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void wake(struct trace_box* box) {
  syscall(SYS_futex, &box->state, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* On a virtual machine traps of debug registers were seen to come without their reason (DR6 is 0). The kernel
   takes that for an INT1 instruction and sends SIGTRAP with TRAP_BRKPT, which would end the program. */
static void on_trap(int number, siginfo_t* info, void* context) {
  (void)context;
  if (info->si_code == TRAP_BRKPT) {
    __atomic_fetch_add(&process.trace->stray, 1, __ATOMIC_RELAXED);
    return;
  }
  const struct sigaction standard = {.sa_handler = SIG_DFL};
  sigaction(number, &standard, NULL);
  raise(number); /* delivered when this returns */
}

/* Where the program has, or gets, a handler of its own, that one is called. */
static void survive_stray_traps(void) {
  struct sigaction before;
  if (sigaction(SIGTRAP, NULL, &before) != 0 || before.sa_handler != SIG_DFL) return;
  const struct sigaction ours = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  sigaction(SIGTRAP, &ours, NULL);
}

int traced_prepare(void) {
  const char* path = getenv("CACHELINE_TRACE");
  if (path == NULL || *path == 0) return 0;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd < 0) return 0;
  struct trace_box* box =
      (void*)syscall(SYS_mmap, NULL, HEAP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (box == MAP_FAILED) return 0;
  if (box->magic != TRACE_MAGIC || box->version != TRACE_VERSION) {
    syscall(SYS_munmap, box, HEAP_PAGE);
    return 0;
  }
  __atomic_fetch_add(&box->agents, 1, __ATOMIC_RELAXED);
  process.trace = box;
  survive_stray_traps();
  return 1;
}

static void fill_act(struct trace_act* act, const uint64_t* frames, uint32_t count) {
  unsigned cpu = 0;
  syscall(SYS_getcpu, &cpu, NULL, NULL);
  act->tid = (uint32_t)syscall(SYS_gettid);
  act->cpu = cpu;
  act->frames = count;
  for (uint32_t i = 0; i < count; i++) act->frame[i] = frames[i];
  act->ns = monotonic_ns();
}

/* Until the recorder has answered. What the program does with the block comes after that. */
static void wait_for_answer(struct trace_box* box) {
  const uint64_t end = monotonic_ns() + TRACE_WAIT_NS;
  while (state_of(box) == TRACE_ASKED) {
    const uint64_t now = monotonic_ns();
    if (now >= end) {
      change(box, TRACE_ASKED, TRACE_CLOSED);
      return;
    }
    const struct timespec left = {0, (long)(end - now)};
    syscall(SYS_futex, &box->state, FUTEX_WAIT, TRACE_ASKED, &left, NULL, 0);
  }
}

static void ask(struct trace_box* box, const void* frame, const void* block, size_t size) {
  uint64_t frames[HEAP_MAX_FRAMES];
  const uint32_t count = stack_walk(frame, frames);
  const uint64_t hash = stack_hash_of(frames, count) ^ size;
  if (atomic_load_explicit(&refused[hash % REFUSED], memory_order_relaxed) == hash) return;
  if (!change(box, TRACE_OPEN, TRACE_TAKEN)) return;
  if (!live_insert(block)) {
    change(box, TRACE_TAKEN, TRACE_OPEN);
    return;
  }
  box->pid = (uint32_t)syscall(SYS_getpid);
  box->address = (uint64_t)block;
  box->size = size;
  fill_act(&box->allocated, frames, count);
  change(box, TRACE_TAKEN, TRACE_ASKED);
  wake(box);
  wait_for_answer(box);
  const int mine = box->address == (uint64_t)block; /* else the answer came so late that another one asks */
  if (mine && state_of(box) == TRACE_WATCHED) return;
  live_remove(block);
  if (mine && state_of(box) == TRACE_REFUSED) {
    atomic_store_explicit(&refused[hash % REFUSED], hash, memory_order_relaxed);
    change(box, TRACE_REFUSED, TRACE_CLOSED);
    wake(box);
  }
}

void traced_allocate(const void* frame, const void* block, size_t size) {
  struct trace_box* box = process.trace;
  if (LIKELY(state_of(box) != TRACE_OPEN) || size < box->least || size > box->most || thread.busy) return;
  thread.busy = 1;
  const int saved = errno;
  ask(box, frame, block, size);
  errno = saved;
  thread.busy = 0;
}

void traced_free(const void* frame, const void* block) {
  struct trace_box* box = process.trace;
  if (box->address != (uint64_t)block || state_of(box) != TRACE_WATCHED || thread.busy) return;
  const int saved = errno;
  if (box->pid == (uint32_t)syscall(SYS_getpid) && change(box, TRACE_WATCHED, TRACE_FREEING)) {
    uint64_t frames[HEAP_MAX_FRAMES];
    thread.busy = 1;
    fill_act(&box->freed, frames, stack_walk(frame, frames));
    thread.busy = 0;
    change(box, TRACE_FREEING, TRACE_FREED);
    wake(box);
  }
  errno = saved;
}
