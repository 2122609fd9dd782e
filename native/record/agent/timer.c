/* The timer of each thread, and the signal handler that takes the samples. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "record/agent/sampler.h"

#define IP_INDEX 8               /* in that order */
#define NAME_EVERY 32u           /* samples; threads are renamed at their start, mostly */
#define ABANDONED 30000000000ull /* ns without the recorder, while the ring is full */

/* The kernel's own numbers of ucontext's registers, in the order of kX86SampleRegs (base/registers.h). */
static void snapshot(const greg_t* from, uint64_t* to) {
  static const unsigned char order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI,
                                        REG_RDI, REG_RBP, REG_RSP, REG_RIP, REG_EFL};
  uint32_t count = 0;
  for (; count < sizeof order; count++) to[count] = (uint64_t)from[order[count]];
  const uint64_t selectors = (uint64_t)from[REG_CSGSFS];
  to[count++] = selectors & 0xffff;
  to[count++] = selectors >> 48;
  static const unsigned char high[] = {REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  for (uint32_t i = 0; i < sizeof high; i++) to[count++] = (uint64_t)from[high[i]];
}

/* The timer ran out in the kernel: SYSCALL leaves its return address in rcx and the flags in r11, which no
   other instruction does. Such samples are the kernel's. */
static int at_end_of_call(const greg_t* registers) {
  return registers[REG_RCX] == registers[REG_RIP] && registers[REG_R11] == registers[REG_EFL];
}

/* Of the timer. Where a sample is wanted in each of the kernel's ticks it is as good as nothing: with the
   tick's own length a tick that comes a little early would find the timer not yet run out. */
static uint64_t timer_interval(void) {
  const struct sampler_file_header* file = process.file;
  return !file->wall && file->interval <= file->tick ? 1000 : file->interval;
}

/* Only this thread adds, and the recorder reads. */
static void count_up(uint64_t* count) {
  __atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

static void put_sample(const uint64_t* registers, uint64_t time, uint64_t periods) {
  struct sampler_sample* sample = slot_reserve(sizeof *sample);
  if (sample == NULL) {
    count_up(&thread.slot->lost);
    /* Nobody reads any more: what is recorded stays, and the program goes on alone. */
    if (time - __atomic_load_n(&process.file->heartbeat, __ATOMIC_RELAXED) > ABANDONED) timer_disarm();
    return;
  }
  sample->header = (struct perf_event_header){
      .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = sizeof *sample};
  sample->identifier = SAMPLER_EVENT_ID;
  sample->ip = registers[IP_INDEX];
  sample->pid = process.pid;
  sample->tid = thread.tid;
  sample->time = time;
  sample->cpu = this_cpu();
  sample->reserved = 0;
  sample->period = periods * timer_interval();
  sample->abi = PERF_SAMPLE_REGS_ABI_64;
  memcpy(sample->registers, registers, sizeof sample->registers);
  slot_commit(sizeof *sample);
}

static void take_sample(const siginfo_t* info, ucontext_t* context) {
  if (process_ended() || thread.ended || thread.inside || thread.generation != process.generation) return;
  if (!alternate_has_room(&context->uc_stack)) return;
  if (__atomic_load_n(&process.file->enabled, __ATOMIC_RELAXED) == 0) return;
  const greg_t* registers = context->uc_mcontext.gregs;
  if (at_end_of_call(registers)) {
    if (thread.slot != NULL) count_up(&thread.slot->in_kernel);
    return;
  }
  if (thread.pass_over) {
    thread.pass_over = 0;
    return;
  }
  if (!slot_take()) return;
  slot_begin();
  const uint64_t time = now_ns();
  if (thread.creator != 0) put_task(PERF_RECORD_FORK, process.pid, thread.creator, time);
  thread.creator = 0;
  if (thread.samples++ % NAME_EVERY == 0) put_name(0, time);
  uint64_t values[SAMPLER_REGISTERS];
  snapshot(registers, values);
  maps_look((uint64_t)registers[REG_RIP], values, SAMPLER_REGISTERS, time);
  const int missed = info->si_overrun;
  put_sample(values, time, 1 + (uint64_t)(missed > 0 ? missed : 0));
  slot_end();
}

static void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  if (info->si_code == SI_TIMER && info->si_value.sival_ptr == &process)
    take_sample(info, context);
  else
    signal_forward(signal, info, context);
  errno = saved;
}

static int set_handler(int signal) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask); /* a handler of the program that never returns would leave the slot busy */
  return REAL(sigaction)(signal, &action, NULL) == 0;
}

/* From the upper end of the real-time signals, but not the last: programs count from either end. */
int timer_prepare(void) {
  const int last = SIGRTMAX - 2, first = SIGRTMIN + 8;
  for (int signal = last; signal >= first; signal--) {
    struct sigaction action;
    if (REAL(sigaction)(signal, NULL, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    process.signal = signal;
    signals_look();
    alternate_prepare();
    if (set_handler(signal)) return 1;
    process.signal = 0;
  }
  return 0;
}

static uint64_t at_random(uint64_t below) {
  const uint64_t mixed = (now_ns() + (uint64_t)thread.tid * 0x9e3779b97f4a7c15ull) * 0x2545f4914f6cdd1dull;
  return (mixed >> 20) % below;
}

/* When a thread is sampled first, so that threads that live shorter than an interval are sampled as often as
   their time deserves. A CPU-time timer runs out in a tick of the kernel: the first tick is taken, of several
   in an interval only as many as are due. */
static struct timespec first_time(uint64_t interval) {
  if (process.file->wall) {
    const uint64_t ns = at_random(interval) + 1;
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  }
  thread.pass_over = at_random(interval) >= process.file->tick;
  return (struct timespec){0, 1};
}

void timer_arm(void) {
  const uint64_t interval = timer_interval();
  if (interval == 0) return;
  if (thread.tid == 0) thread.tid = (uint32_t)direct(SYS_gettid);
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = process.signal;
  event.sigev_value.sival_ptr = &process;
  event._sigev_un._tid = (pid_t)thread.tid;
  const clockid_t clock = process.file->wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  const struct itimerspec times = {{(time_t)(interval / 1000000000u), (long)(interval % 1000000000u)},
                                   first_time(interval)};
  if (direct(SYS_timer_create, clock, &event, &thread.timer) == 0) {
    thread.armed = 1;
    if (thread.slot != NULL)
      __atomic_store_n(&thread.slot->timer, (uint32_t)thread.timer + 1, __ATOMIC_RELAXED);
    if (direct(SYS_timer_settime, thread.timer, 0, &times, NULL) == 0) return;
  }
  __atomic_store_n(&process.file->timer_error, (uint32_t)errno, __ATOMIC_RELAXED);
  __atomic_fetch_add(&process.file->unsampled, 1, __ATOMIC_RELAXED);
}

void timer_disarm(void) {
  /* A handler that interrupts this deletes it, or this does. */
  if (__atomic_exchange_n(&thread.armed, 0, __ATOMIC_RELAXED) == 0) return;
  if (thread.slot != NULL) __atomic_store_n(&thread.slot->timer, 0, __ATOMIC_RELAXED);
  direct(SYS_timer_delete, thread.timer);
}
