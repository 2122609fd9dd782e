/* Our signal and the program's: whatever it blocks, ours stays free; whatever it waits for, ours is not it;
   what it asks about masks and handlers is answered as if we were not there. */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/sampler.h"

static struct sigaction theirs;               /* of the program, for our signal */
static _Atomic uint64_t handlers_masking_own; /* signals whose handlers block ours, as the program believes */

static int is_own(int signal) {
  return signal == process.signal && signal != 0;
}

static int has_own(const sigset_t* set) {
  return set != NULL && process.signal != 0 && sigismember(set, process.signal) == 1;
}

static sigset_t without_own(const sigset_t* set) {
  sigset_t copy = *set;
  sigdelset(&copy, process.signal);
  return copy;
}

void signal_forward(int signal, siginfo_t* info, void* context) {
  if (theirs.sa_handler == SIG_IGN) return;
  if (theirs.sa_handler == SIG_DFL) {
    /* It ends the program once this handler has returned. */
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    REAL(sigaction)(signal, &by_default, NULL);
    direct(SYS_tgkill, process.pid, direct(SYS_gettid), signal);
  } else if ((theirs.sa_flags & SA_SIGINFO) != 0) {
    theirs.sa_sigaction(signal, info, context);
  } else {
    theirs.sa_handler(signal);
  }
}

struct hold hold_signal(void) {
  if (!thread.armed) return (struct hold){0};
  const uint64_t own = own_bit();
  uint64_t before = own;
  direct(SYS_rt_sigprocmask, SIG_BLOCK, &own, &before, sizeof own);
  return (struct hold){(before & own) == 0};
}

void let_go(struct hold hold) {
  if (!hold.held) return;
  const uint64_t own = own_bit();
  direct(SYS_rt_sigprocmask, SIG_UNBLOCK, &own, NULL, sizeof own);
}

static int wants_alternate(const struct sigaction* wanted) {
  return wanted != NULL && process.signal != 0 && (wanted->sa_flags & SA_ONSTACK) != 0 &&
         wanted->sa_handler != SIG_DFL && wanted->sa_handler != SIG_IGN;
}

AGENT_EXPORT int sigaction(int signal, const struct sigaction* wanted, struct sigaction* before) {
  if (is_own(signal)) {
    const struct sigaction old = theirs;
    if (wanted != NULL) theirs = *wanted;
    if (before != NULL) *before = old;
    return 0;
  }
  struct sigaction own;
  const uint64_t bit = signal > 0 && signal <= 64 ? (uint64_t)1 << (signal - 1) : 0;
  const int masks = wanted != NULL && has_own(&wanted->sa_mask), alternate = wants_alternate(wanted);
  if (masks || alternate) {
    own = *wanted;
    own.sa_mask = without_own(&wanted->sa_mask);
  }
  if (alternate) {
    alternate_is_asked_for();
    /* The alternate stack may have no room for our signal besides this one. */
    sigaddset(&own.sa_mask, process.signal);
  }
  const int result = REAL(sigaction)(signal, masks || alternate ? &own : wanted, before);
  if (result != 0) return result;
  if (before != NULL && process.signal != 0) {
    if ((atomic_load(&handlers_masking_own) & bit) != 0)
      sigaddset(&before->sa_mask, process.signal);
    else
      sigdelset(&before->sa_mask, process.signal);
  }
  if (masks)
    atomic_fetch_or(&handlers_masking_own, bit);
  else if (wanted != NULL)
    atomic_fetch_and(&handlers_masking_own, ~bit);
  return 0;
}

void signals_look(void) {
  for (int signal = 1; signal < SIGRTMAX; signal++) {
    struct sigaction action;
    if (REAL(sigaction)(signal, NULL, &action) == 0 && wants_alternate(&action))
      sigaction(signal, &action, NULL);
  }
}

AGENT_EXPORT sighandler_t signal(int number, sighandler_t handler) {
  if (!is_own(number)) return REAL(signal)(number, handler);
  const sighandler_t before = theirs.sa_handler;
  theirs = (struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART};
  return before;
}

typedef int (*set_mask)(int, const sigset_t*, sigset_t*);

static int change_mask(set_mask real, int how, const sigset_t* set, sigset_t* before) {
  const int had = has_own(set), was = thread.masked;
  sigset_t copy;
  if (had && how != SIG_UNBLOCK) copy = without_own(set);
  const int result = real(how, had && how != SIG_UNBLOCK ? &copy : set, before);
  if (result != 0 || process.signal == 0) return result;
  if (set != NULL && (had || how == SIG_SETMASK)) thread.masked = had && how != SIG_UNBLOCK;
  if (before != NULL && was)
    sigaddset(before, process.signal);
  else if (before != NULL)
    sigdelset(before, process.signal);
  return result;
}

AGENT_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  return change_mask(REAL(sigprocmask), how, set, before);
}

AGENT_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  return change_mask(REAL(pthread_sigmask), how, set, before);
}

AGENT_EXPORT int signalfd(int fd, const sigset_t* set, int flags) {
  if (!has_own(set)) return REAL(signalfd)(fd, set, flags);
  const sigset_t copy = without_own(set);
  return REAL(signalfd)(fd, &copy, flags);
}

/* A program that waits for our signal alone has it to itself. */
static sigset_t awaited(const sigset_t* set) {
  const sigset_t copy = without_own(set);
  return sigisemptyset(&copy) ? *set : copy;
}

AGENT_EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* info, const struct timespec* limit) {
  const sigset_t copy = has_own(set) ? awaited(set) : *set;
  const struct hold hold = hold_signal();
  const int result = REAL(sigtimedwait)(&copy, info, limit);
  let_go(hold);
  return result;
}

AGENT_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  const sigset_t copy = has_own(set) ? awaited(set) : *set;
  const struct hold hold = hold_signal();
  const int result = REAL(sigwaitinfo)(&copy, info);
  let_go(hold);
  return result;
}

AGENT_EXPORT int sigwait(const sigset_t* set, int* number) {
  const sigset_t copy = has_own(set) ? awaited(set) : *set;
  const struct hold hold = hold_signal();
  const int result = REAL(sigwait)(&copy, number);
  let_go(hold);
  return result;
}

/* It returns for a signal, and that must not be ours. */
AGENT_EXPORT int sigsuspend(const sigset_t* mask) {
  sigset_t copy = *mask;
  if (process.signal != 0) sigaddset(&copy, process.signal);
  return REAL(sigsuspend)(&copy);
}

AGENT_EXPORT int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  const unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long);
  const unsigned long c = va_arg(list, unsigned long), d = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_SECCOMP) process_seal();
  return REAL(prctl)(option, a, b, c, d);
}
