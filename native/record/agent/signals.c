/* Our signal and the program's: whatever it blocks, ours stays free; whatever it waits for, ours is not it;
   what it asks about masks and handlers is answered as if we were not there. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "record/agent/sampler.h"

#define ACTIONS 256u
#define HANDLERS_MOST (1u << 20) /* bytes of stack that a handler of the program takes */

/* What the program wants of our signal. Programs want few different things, so each is kept once and is then
   never written again: a handler on any thread reads the one that `theirs` points to, whole, and waits for
   nobody, also where it has interrupted a thread that was setting another. `state` gives the fields to those
   who read them. A handler that leaves `keep` by a jump loses the place of one. Programs that want more than
   there are places for get the oldest written over; then only, a reader that was stopped since it was set may
   see a part of each. */
struct action {
  _Atomic uint32_t state;
  _Atomic uintptr_t handler;
  _Atomic uint64_t mask; /* of signals 1 to 64 */
  atomic_int flags;
};
enum action_state { PLACE_FREE, PLACE_TAKEN, PLACE_WHOLE };
static struct action actions[ACTIONS] = {{.state = PLACE_WHOLE, .handler = (uintptr_t)SIG_DFL}};
static struct action* _Atomic theirs = actions;

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

static struct sigaction read_action(const struct action* from) {
  struct sigaction action = {
      .sa_handler = (sighandler_t)atomic_load_explicit(&from->handler, memory_order_relaxed),
      .sa_flags = atomic_load_explicit(&from->flags, memory_order_relaxed),
  };
  const uint64_t mask = atomic_load_explicit(&from->mask, memory_order_relaxed);
  memcpy(&action.sa_mask, &mask, sizeof mask);
  return action;
}

static uint64_t mask_of(const sigset_t* set) {
  uint64_t mask;
  memcpy(&mask, set, sizeof mask);
  return mask;
}

static struct action* write_action(struct action* place, const struct sigaction* action) {
  atomic_store_explicit(&place->handler, (uintptr_t)action->sa_handler, memory_order_relaxed);
  atomic_store_explicit(&place->mask, mask_of(&action->sa_mask), memory_order_relaxed);
  atomic_store_explicit(&place->flags, action->sa_flags, memory_order_relaxed);
  atomic_store_explicit(&place->state, PLACE_WHOLE, memory_order_release);
  return place;
}

static struct action* keep(const struct sigaction* action) {
  for (struct action* place = actions; place != actions + ACTIONS; place++) {
    uint32_t state = atomic_load_explicit(&place->state, memory_order_acquire);
    if (state == PLACE_FREE &&
        atomic_compare_exchange_strong_explicit(&place->state, &state, PLACE_TAKEN, memory_order_acquire,
                                                memory_order_acquire))
      return write_action(place, action);
    if (state != PLACE_WHOLE) continue;
    const struct sigaction known = read_action(place);
    if (known.sa_handler == action->sa_handler && known.sa_flags == action->sa_flags &&
        mask_of(&known.sa_mask) == mask_of(&action->sa_mask))
      return place;
  }
  static _Atomic uint32_t oldest;
  struct action* place;
  do place = &actions[atomic_fetch_add_explicit(&oldest, 1, memory_order_relaxed) % ACTIONS];
  while (place == atomic_load_explicit(&theirs, memory_order_relaxed));
  return write_action(place, action);
}

/* Sets it where there is one to be set, and gives the one before. */
static struct sigaction exchange_theirs(const struct sigaction* wanted) {
  return read_action(wanted == NULL ? atomic_load_explicit(&theirs, memory_order_acquire)
                                    : atomic_exchange_explicit(&theirs, keep(wanted), memory_order_acq_rel));
}

/* By the address: a handler may also leave by a switch to another stack, and come back. */
static int in_forwarded_handler(void) {
  return UNLIKELY(thread.forwarding) && thread.forwarding == 1 + alternate_is_in_use() &&
         thread.forwarded_at - (uint64_t)__builtin_frame_address(0) < HANDLERS_MOST;
}

static void forward_to(const struct sigaction* action, int signal, siginfo_t* info,
                       const ucontext_t* context) {
  const struct hold hold = hold_by_mask();
  const uint64_t own = (action->sa_flags & SA_NODEFER) != 0 ? 0 : own_bit();
  thread.handlers_mask = mask_of(&context->uc_sigmask) | mask_of(&action->sa_mask) | own;
  thread.forwarding = 1 + alternate_is_in_use();
  thread.forwarded_at = (uint64_t)__builtin_frame_address(0);
  if ((action->sa_flags & SA_SIGINFO) != 0)
    action->sa_sigaction(signal, info, (void*)context);
  else
    action->sa_handler(signal);
  thread.forwarding = 0;
  let_go(hold);
}

void signal_forward(int signal, siginfo_t* info, void* context) {
  const struct sigaction action = exchange_theirs(NULL);
  if (action.sa_handler == SIG_IGN) return;
  if (action.sa_handler == SIG_DFL) {
    /* It ends the program once this handler has returned. */
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    REAL(sigaction)(signal, &by_default, NULL);
    direct(SYS_tgkill, process.pid, direct(SYS_gettid), signal);
  } else {
    forward_to(&action, signal, info, context);
  }
}

/* A handler of the program left by a jump (below), and with it what had our signal blocked. */
static int stayed_blocked(void) {
  return UNLIKELY(thread.jumped) && !alternate_is_in_use();
}

struct hold hold_by_mask(void) {
  const struct hold hold = {.held = 0, .outer = thread.holding};
  thread.holding = 1;
  return hold;
}

struct hold hold_signal(void) {
  if (!thread.armed) return (struct hold){.held = 0, .outer = thread.holding};
  struct hold hold = hold_by_mask(); /* first: a handler of the program may come at any moment, and jump */
  const uint64_t own = own_bit();
  uint64_t before = own;
  direct(SYS_rt_sigprocmask, SIG_BLOCK, &own, &before, sizeof own);
  hold.held = (before & own) == 0 || stayed_blocked();
  if (hold.held) thread.jumped = 0;
  return hold;
}

void let_go(struct hold hold) {
  if (hold.held) {
    const uint64_t own = own_bit();
    direct(SYS_rt_sigprocmask, SIG_UNBLOCK, &own, NULL, sizeof own);
  }
  thread.holding = hold.outer;
}

/* The program jumps, perhaps out of a handler. Where that came while our signal was blocked, it would stay
   blocked, since let_go does not run, nor does the kernel set the mask that was before the handler. What
   siglongjmp sets is the mask of a time at which our signal was free.

   If the jump stays within the handler after all, its return sets the mask that the call needs. But on an
   alternate stack our signal may have no room besides the handler, so there it must not be unblocked before
   the jump: that thread is not sampled, and counted, until a call of the program passes here afterwards. */
static void before_jump(const struct __jmp_buf_tag* to) {
  if (LIKELY(!thread.holding && !has_alternate_handlers())) return;
  const int held = thread.holding, forwarding = in_forwarded_handler();
  thread.forwarding = 0;
  if (to->__mask_was_saved || process.signal == 0 || process_ended()) {
    thread.holding = 0;
    return;
  }
  const int saved = errno, alternate = alternate_is_in_use();
  const uint64_t own = own_bit();
  uint64_t mask = thread.handlers_mask;
  if (forwarding) {
    thread.masked = (mask & own) != 0;
    if (!alternate_has_place()) mask |= own;
    direct(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
  } else if (held && !alternate) {
    direct(SYS_rt_sigprocmask, SIG_UNBLOCK, &own, NULL, sizeof own);
  }
  thread.holding = 0; /* only now: a handler that interrupts this may jump, too */
  const int stays = forwarding ? (mask & own) != 0 : alternate;
  thread.jumped = stays || !held;
  if (stays && thread.armed && !thread.jump_counted) {
    thread.jump_counted = 1;
    __atomic_fetch_add(&process.file->left_handlers, 1, __ATOMIC_RELAXED);
  }
  errno = saved;
}

#define JUMP(name)                                                          \
  AGENT_EXPORT _Noreturn void name(struct __jmp_buf_tag to[1], int value) { \
    before_jump(to);                                                        \
    REAL(name)(to, value);                                                  \
    __builtin_unreachable();                                                \
  }

_Noreturn void __longjmp_chk(struct __jmp_buf_tag to[1], int value); /* by programs with _FORTIFY_SOURCE */
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

static int wants_alternate(const struct sigaction* wanted) {
  return wanted != NULL && process.signal != 0 && (wanted->sa_flags & SA_ONSTACK) != 0 &&
         wanted->sa_handler != SIG_DFL && wanted->sa_handler != SIG_IGN;
}

AGENT_EXPORT int sigaction(int signal, const struct sigaction* wanted, struct sigaction* before) {
  if (is_own(signal)) {
    const struct sigaction old = exchange_theirs(wanted); /* `before` may be the same */
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
  struct sigaction wanted = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaddset(&wanted.sa_mask, number);
  return exchange_theirs(&wanted).sa_handler;
}

typedef int (*set_mask)(int, const sigset_t*, sigset_t*);

static int change_mask(set_mask real, int how, const sigset_t* set, sigset_t* before) {
  const int had = has_own(set), was = thread.masked;
  const int mends = set != NULL && process.signal != 0 && how == SIG_UNBLOCK && stayed_blocked();
  sigset_t copy;
  if (had && how != SIG_UNBLOCK) copy = without_own(set);
  if (mends) {
    copy = *set;
    sigaddset(&copy, process.signal);
    thread.jumped = 0;
  }
  const int forwarding = in_forwarded_handler();
  const uint64_t handlers = thread.handlers_mask, asked = forwarding && set != NULL ? mask_of(set) : 0;
  const int result = real(how, mends || (had && how != SIG_UNBLOCK) ? &copy : set, before);
  if (result != 0 || process.signal == 0) return result;
  if (forwarding && before != NULL) memcpy(before, &handlers, sizeof handlers);
  if (forwarding && set != NULL)
    thread.handlers_mask = how == SIG_BLOCK     ? handlers | asked
                           : how == SIG_UNBLOCK ? handlers & ~asked
                                                : asked;
  if (set != NULL && (had || how == SIG_SETMASK)) thread.masked = had && how != SIG_UNBLOCK;
  if (before != NULL && was)
    sigaddset(before, process.signal);
  else if (before != NULL && !forwarding)
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
  const struct hold hold = hold_by_mask();
  const int result = REAL(sigsuspend)(&copy);
  let_go(hold);
  return result;
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
