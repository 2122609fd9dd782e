/* The alternate signal stack that our handler runs on, so that the thread itself may be on a stack of any
   size, a coroutine's, when its timer runs out.

   Where the program has set one in this thread, that is the one the kernel holds. Elsewhere the kernel holds
   one of ours, and the program is told that there is none. Handlers of the program that ask for an alternate
   stack would come to run on ours: from the first such handler on, threads without a stack of the program's
   have none, and samples are taken on the stack that the thread is on. A thread gives ours back at its next
   sample, for only it can. */
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/sampler.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51 /* Linux 5.14 */
#endif
#define HANDLER_NEEDS 2048u  /* bytes below the kernel's frame; by -fstack-usage it is less than 1,100 */
#define HANDLER_LEAVES 1536u /* of these, where the handler looks */
/* Ours has room for a handler of the program for our signal, too. */
#define OURS_NEEDS (32u << 10)
#define PAGE 4096u

static const stack_t none = {.ss_flags = SS_DISABLE};

static uint64_t size_of_ours(void) {
  return (getauxval(AT_MINSIGSTKSZ) + OURS_NEEDS + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static stack_t held_by_kernel(void) {
  stack_t held = none;
  direct(SYS_sigaltstack, NULL, &held);
  return held;
}

static int is_ours(const stack_t* stack) {
  return thread.alternate != NULL && stack->ss_sp == thread.alternate;
}

static int is_programs(const stack_t* stack) {
  return (stack->ss_flags & SS_DISABLE) == 0 && !is_ours(stack);
}

static int fits(const stack_t* stack) {
  return stack->ss_size >= process.frame + HANDLER_NEEDS;
}

/* With a page before it that nobody may touch. */
static void* map_ours(uint64_t size) {
  char* memory = (void*)direct(SYS_mmap, NULL, PAGE + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  if (direct(SYS_mprotect, memory + PAGE, size, PROT_READ | PROT_WRITE) == 0) return memory + PAGE;
  direct(SYS_munmap, memory, PAGE + size);
  return NULL;
}

static int use_ours(void) {
  const uint64_t size = size_of_ours();
  if (thread.alternate == NULL) thread.alternate = map_ours(size);
  if (thread.alternate == NULL) return 0;
  const stack_t ours = {.ss_sp = thread.alternate, .ss_size = size};
  return direct(SYS_sigaltstack, &ours, NULL) == 0;
}

static void measure(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info, (void)context;
  process.frame = (uint64_t)thread.alternate + size_of_ours() - (uint64_t)__builtin_frame_address(0);
}

/* AT_MINSIGSTKSZ has room for registers that this process may never use (AMX: 8 KiB), and many alternate
   stacks are just as large. So a signal is raised here to see what it takes. */
void alternate_prepare(void) {
  process.frame = getauxval(AT_MINSIGSTKSZ);
  if (process.frame == 0) process.frame = PAGE;
  const stack_t held = held_by_kernel();
  if (is_programs(&held) || has_alternate_handlers() || !use_ours()) return;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = measure;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  if (REAL(sigaction)(process.signal, &action, NULL) != 0) return;
  const uint64_t own = own_bit();
  direct(SYS_rt_sigprocmask, SIG_UNBLOCK, &own, NULL, sizeof own);
  direct(SYS_tgkill, process.pid, direct(SYS_gettid), process.signal);
}

/* This thread is not sampled, for now. */
static void leave_out(uint64_t* count) {
  timer_disarm();
  thread.no_room = 1;
  if (!thread.left_out) __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
  thread.left_out = 1;
}

static int find_room(void) {
  const stack_t held = held_by_kernel();
  if (is_programs(&held)) {
    thread.programs = held;
    if (!fits(&held)) leave_out(&process.file->small_alternates);
    return fits(&held);
  }
  const int ours = !has_alternate_handlers() && (is_ours(&held) || use_ours());
  if (!ours && thread.small_stack) leave_out(&process.file->small_stacks);
  return ours || !thread.small_stack;
}

void alternate_arm(void) {
  if (!find_room()) return;
  thread.no_room = 0;
  timer_arm();
}

int alternate_has_room(stack_t* held) {
  if (is_programs(held)) {
    /* The registers may have grown since, or the stack was set past our sigaltstack. */
    const uint64_t here = (uint64_t)__builtin_frame_address(0), bottom = (uint64_t)held->ss_sp;
    if (here - bottom >= held->ss_size || here - bottom >= HANDLER_LEAVES) return 1;
    leave_out(&process.file->small_alternates);
    return 0;
  }
  if (!has_alternate_handlers()) return 1;
  *held = none; /* in force when the handler returns */
  if (!thread.small_stack) return 1;
  leave_out(&process.file->small_stacks);
  return 0;
}

void alternate_is_asked_for(void) {
  const int saved = errno;
  atomic_store_explicit(&process.alternate_handlers, 1, memory_order_relaxed);
  const stack_t held = held_by_kernel();
  if (is_ours(&held)) {
    direct(SYS_sigaltstack, &none, NULL);
    if (thread.small_stack) leave_out(&process.file->small_stacks);
  }
  errno = saved;
}

/* Bytes that are left of the alternate stack that the thread is on, UINT64_MAX where it is on none. By the
   address, since the kernel says nothing of a stack with SS_AUTODISARM while a handler is on it. */
static uint64_t left(void) {
  const uint64_t here = (uint64_t)__builtin_frame_address(0);
  const uint64_t in_programs = here - (uint64_t)thread.programs.ss_sp;
  const uint64_t in_ours = here - (uint64_t)thread.alternate;
  if (in_programs < thread.programs.ss_size) return in_programs;
  return thread.alternate != NULL && in_ours < size_of_ours() ? in_ours : UINT64_MAX;
}

int alternate_is_in_use(void) {
  return left() != UINT64_MAX;
}

int alternate_has_place(void) {
  return left() >= process.frame + HANDLER_NEEDS;
}

void alternate_release(void) {
  if (thread.alternate == NULL) return;
  const stack_t held = held_by_kernel();
  if (is_ours(&held) && direct(SYS_sigaltstack, &none, NULL) != 0) return;
  direct(SYS_munmap, (char*)thread.alternate - PAGE, PAGE + size_of_ours());
  thread.alternate = NULL;
}

static int is_sampled(void) {
  return process.signal != 0 && !process_ended() && !thread.ended &&
         thread.generation == process.generation && (thread.armed || thread.no_room);
}

AGENT_EXPORT int sigaltstack(const stack_t* wanted, stack_t* before) {
  const int saved = errno;
  const stack_t held = held_by_kernel();
  const int ours = is_ours(&held), sampled = is_sampled();
  if (wanted == NULL && ours) {
    if (before != NULL) *before = none;
    return 0;
  }
  if (wanted == NULL || !(ours || sampled)) return REAL(sigaltstack)(wanted, before);
  const stack_t next = *wanted; /* `before` may be the same */
  /* A signal that is due comes now, on the stack that was. */
  if (sampled && (next.ss_flags & SS_DISABLE) == 0 && !fits(&next)) {
    timer_disarm();
    thread.no_room = 1;
  }
  const int result = REAL(sigaltstack)(&next, ours ? NULL : before);
  const int error = result == 0 ? saved : errno;
  if (result == 0 && ours && before != NULL) *before = none;
  if (result == 0 && (next.ss_flags & SS_DISABLE) != 0) thread.programs = none;
  if (sampled && find_room() && thread.no_room) alternate_arm();
  errno = error;
  return result;
}
