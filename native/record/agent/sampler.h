/* What the files of the agent share. The agent is loaded into programs that are not ours: it allocates
   nothing by malloc, waits for no lock, opens no descriptor for longer than a moment, and leaves errno as it
   found it. What the signal handler reaches makes system calls directly, and only async-signal-safe ones. */
#pragma once

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>

#include "record/sampler_format.h"

#pragma GCC visibility push(hidden)

#define AGENT_EXPORT __attribute__((visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* real.c: the functions that ours stand in front of */

/* One for each use of REAL, all in one section, whose beginning and end the linker knows. */
struct real_function {
  const char* name;
  void* _Atomic found; /* NULL until the agent is loaded, and where no library has it */
} __attribute__((aligned(16)));
/* Finds all that are not found; gives the one that was asked for. */
void* real_functions_find(struct real_function* function);
static inline void* real_function(struct real_function* function) {
  void* found = atomic_load_explicit(&function->found, memory_order_relaxed);
  return LIKELY(found != NULL) ? found : real_functions_find(function);
}
#define REAL(name)                                                                                   \
  ({                                                                                                 \
    static struct real_function entry __attribute__((section("real_functions"), used)) = {#name, 0}; \
    (__typeof__(name)*)(real_function(&entry));                                                      \
  })

/* A system call that passes none of the functions that stand before libc's, ours among them: -1 and errno. */
static inline long direct_call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  if (result >= 0 || result < -4095) return result;
  errno = (int)-result;
  return -1;
}
#define DIRECT(number, a, b, c, d, e, f, ...) \
  direct_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define direct(...) DIRECT(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* process.c: the file and this process */

struct sampler_process {
  const char* path;                 /* of the file: our own copy, since programs change their environment */
  struct sampler_file_header* file; /* with the slots behind it; NULL: nothing is sampled */
  struct sampler_slot* slots;
  uint32_t pid;
  uint32_t foreign;    /* 1: in another namespace of process ids than the recorder */
  uint32_t generation; /* of threads: what one had before a fork is not the child's */
  int signal;
  uint64_t frame; /* bytes that the kernel needs for a signal */
  /* Any thread sets these two, from 0 to 1 and never back. Nothing else is read because of them, so they are
     relaxed: who sees one late takes one more sample, or gives its alternate stack back one sample later. */
  atomic_int alternate_handlers; /* 1: handlers of the program ask for the alternate stack */
  atomic_int ended; /* it exits, has restricted its own system calls or loaded Go: nothing more is sampled */
};
extern struct sampler_process process;
static inline int process_ended(void) {
  return atomic_load_explicit(&process.ended, memory_order_relaxed);
}
static inline int has_alternate_handlers(void) {
  return atomic_load_explicit(&process.alternate_handlers, memory_order_relaxed);
}

/* True where this process is sampled; sets it up in its first call. */
int process_ready(void);
uint64_t now_ns(void);
/* The program is about to restrict its own system calls. */
void process_seal(void);

/* A library of Go's was loaded: nothing more is sampled. */
void process_leave(void);

/* go_code.c */

/* A part of this process that was loaded since the last call says no is Go's. */
int go_is_loaded(void);
/* The executable is, though it may not say so where it is loaded. */
int go_is_program(void);

/* slot.c: this thread's ring */

/* What a thread and a signal handler that interrupts it both write is one word that neither keeps in a
   register: a flag that is volatile. No other thread has it. */
typedef volatile sig_atomic_t flag;

struct sampler_thread {
  struct sampler_slot* slot; /* NULL until there is something to record */
  unsigned char* ring;
  uint32_t generation, tid;
  uint32_t creator; /* thread that started it, where the recording has yet to be told; else 0 */
  uint32_t samples;
  int timer;
  flag armed;
  void* alternate;  /* alternate.c: memory of ours, with or without being in force; NULL: none */
  stack_t programs; /* the last alternate stack that the program was seen to set, in force or not */
  int small_stack;  /* the stack has no room for a signal */
  flag no_room;     /* it is not sampled, since there is no stack for our handler */
  flag left_out;    /* that is counted */
  flag pass_over;   /* the next sample */
  flag inside;      /* the agent is writing, outside of its handler */
  flag ended;       /* not sampled any more */
  flag masked;      /* the program believes that it blocks our signal */
  flag holding;     /* our signal is held back by a call that has not returned */
  flag forwarding;  /* a handler of the program runs in ours, all signals blocked; 2: on an alternate stack */
  uint64_t forwarded_at;  /* address on the stack that it runs on */
  uint64_t handlers_mask; /* of that handler: what would be blocked now without us */
  flag jumped;            /* a handler left by a jump, and our signal may have stayed blocked */
  flag jump_counted;
  char name[16]; /* as recorded */
};
extern __thread struct sampler_thread thread;

/* Takes a slot for this thread. False where there is none. */
int slot_take(void);
/* Between these two records are written whose times are not before the first call. */
void slot_begin(void);
void slot_end(void);
/* Room for a record of so many bytes (a multiple of 8) in one piece; NULL where there is none. */
void* slot_reserve(uint32_t size);
void slot_commit(uint32_t size);
/* Leaves it to the recorder to be read and given away. */
void slot_release(void);
/* In a forked child: it is the parent's. */
void slot_forget(void);

/* records.c */

uint32_t this_cpu(void);
void put_task(uint32_t type, uint32_t parent, uint32_t parent_thread, uint64_t time);
/* Where the thread's name has changed, or `exec`. */
void put_name(int exec, uint64_t time);
struct mapping {
  uint64_t start, end, offset, inode;
  uint32_t major, minor, protection, flags;
  const char* name;
};
int put_mapping(const struct mapping* mapping, uint64_t time);

/* maps.c: what is mapped, as far as recorded */

/* Records what is mapped and not yet recorded. */
void maps_record(uint64_t time);
/* The same, where a sample's registers point to something that is not recorded. */
void maps_look(uint64_t ip, const uint64_t* registers, uint32_t count, uint64_t time);
/* Something was mapped or unmapped; `code`: by the dynamic loader. */
void maps_stale(int code);
/* In a forked child. */
void maps_forked(void);

/* timer.c */

/* Chooses the signal and sets its handler. */
int timer_prepare(void);
void timer_arm(void);
void timer_disarm(void);

/* alternate.c: the alternate stack that our handler runs on */

/* Before the handler of our signal is set. */
void alternate_prepare(void);
/* Samples this thread where there is a stack for the handler; else counts it. */
void alternate_arm(void);
/* In the handler: whether it has room, by the stack that the kernel held before. */
int alternate_has_room(stack_t* held);
/* The program has a handler that asks for the alternate stack. */
void alternate_is_asked_for(void);
/* Whether the stack that the thread is on is an alternate one, and whether it has room for our signal. */
int alternate_is_in_use(void);
int alternate_has_place(void);
/* At the thread's end. */
void alternate_release(void);

/* threads.c */

int threads_prepare(void);
/* This thread begins to be sampled. */
void thread_begin(uint32_t creator);

/* signals.c */

/* Once our signal is chosen: handlers that initializers of libraries set before the agent was there. */
void signals_look(void);
/* What the program wants of the signal that we took. */
void signal_forward(int signal, siginfo_t* info, void* context);
static inline uint64_t own_bit(void) {
  return (uint64_t)1 << (process.signal - 1);
}
/* Our signal, held back while the program waits: the call then ends as it would without us. */
struct hold {
  int held;  /* it is for let_go to unblock it */
  int outer; /* thread.holding before */
};
struct hold hold_signal(void);
/* The same where the call itself blocks it, for its time. */
struct hold hold_by_mask(void);
void let_go(struct hold hold);

#pragma GCC visibility pop
