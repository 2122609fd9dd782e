/* The beginning and the end of threads. Those that are made by clone() directly are not seen. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/sampler.h"

#define STARTING 1024
#define SMALL_STACK (64u << 10) /* a signal's frame takes 3 to 12 KiB with the widest registers */

/* What a thread that was created has yet to run. */
struct start {
  atomic_int taken;
  union {
    void* (*posix)(void*);
    int (*c11)(void*);
  } run;
  void* argument;
  uint32_t creator;
  int masked, small_stack;
};
static struct start starts[STARTING];
static _Atomic uint32_t next_start;
static pthread_key_t at_end;

static void on_end(void* unused) {
  (void)unused;
  if (process_ended() || thread.ended || thread.generation != process.generation) return;
  timer_disarm();
  alternate_release();
  thread.ended = 1;
  if (thread.slot == NULL) return;
  if (thread.creator == 0 && thread.tid != process.pid) {
    slot_begin();
    put_task(PERF_RECORD_EXIT, process.pid, process.pid, now_ns());
    slot_end();
  }
  slot_release();
}

int threads_prepare(void) {
  return pthread_key_create(&at_end, on_end) == 0;
}

void thread_begin(uint32_t creator) {
  thread.generation = process.generation;
  thread.creator = creator;
  const uint64_t own = own_bit();
  direct(SYS_rt_sigprocmask, SIG_UNBLOCK, &own, NULL, sizeof own);
  alternate_arm();
  pthread_setspecific(at_end, &process);
}

static struct start* prepare_start(void) {
  for (int tries = 0; tries < 16; tries++) {
    struct start* start = &starts[atomic_fetch_add(&next_start, 1) % STARTING];
    int expected = 0;
    if (!atomic_compare_exchange_strong(&start->taken, &expected, 1)) continue;
    start->creator = thread.tid != 0 ? thread.tid : (uint32_t)direct(SYS_gettid);
    start->masked = thread.masked;
    return start;
  }
  return NULL;
}

static void begin_in_thread(struct start* start, struct start* copy) {
  *copy = (struct start){.run = start->run, .argument = start->argument};
  thread.masked = start->masked;
  thread.small_stack = start->small_stack;
  const uint32_t creator = start->creator;
  atomic_store(&start->taken, 0);
  if (process_ready()) thread_begin(creator);
}

/* Both leave their frame before the program's function runs: it sees the stack that it knows. */
static void* run_posix(void* argument) {
  struct start copy;
  begin_in_thread(argument, &copy);
  return copy.run.posix(copy.argument);
}

static int run_c11(void* argument) {
  struct start copy;
  begin_in_thread(argument, &copy);
  return copy.run.c11(copy.argument);
}

static int stack_is_small(const pthread_attr_t* attributes) {
  size_t size = 0;
  return attributes != NULL && pthread_attr_getstacksize(attributes, &size) == 0 && size < SMALL_STACK;
}

static struct start* start_or_count(void) {
  struct start* start = prepare_start();
  if (start == NULL) __atomic_fetch_add(&process.file->unsampled, 1, __ATOMIC_RELAXED);
  return start;
}

AGENT_EXPORT int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*run)(void*),
                                void* argument) {
  const int saved = errno;
  /* The first that Go does where it is loaded later is to start threads. */
  if (process_ready() && go_is_loaded()) process_leave();
  struct start* start = process_ready() ? start_or_count() : NULL;
  errno = saved;
  if (start == NULL) return REAL(pthread_create)(id, attributes, run, argument);
  start->run.posix = run;
  start->small_stack = stack_is_small(attributes);
  start->argument = argument;
  const int result = REAL(pthread_create)(id, attributes, run_posix, start);
  if (result != 0) atomic_store(&start->taken, 0);
  return result;
}

AGENT_EXPORT int thrd_create(thrd_t* id, thrd_start_t run, void* argument) {
  struct start* start = process_ready() ? start_or_count() : NULL;
  if (start == NULL) return REAL(thrd_create)(id, run, argument);
  start->run.c11 = run;
  start->small_stack = 0;
  start->argument = argument;
  const int result = REAL(thrd_create)(id, run_c11, start);
  if (result != thrd_success) atomic_store(&start->taken, 0);
  return result;
}
