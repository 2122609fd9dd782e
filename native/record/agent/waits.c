/* Calls that the kernel does not begin again after a signal, whatever SA_RESTART says (signal(7),
   "Interruption of system calls and library functions by signal handlers"), or that then return with a part
   of the work done: our signal is held back while they last. A sample that waits for that is one of the
   kernel's time, which is not recorded anyway. */
#include <aio.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/sampler.h"

/* Up to so many bytes a pipe or a socket takes all or nothing (PIPE_BUF). */
#define WHOLE_WRITE 4096u

#define HELD(type, name, parameters, arguments) \
  AGENT_EXPORT type name parameters {           \
    const struct hold hold = hold_signal();     \
    const type result = REAL(name) arguments;   \
    let_go(hold);                               \
    return result;                              \
  }

HELD(int, nanosleep, (const struct timespec* time, struct timespec* left), (time, left))
HELD(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec* time, struct timespec* left),
     (clock, flags, time, left))
HELD(int, thrd_sleep, (const struct timespec* time, struct timespec* left), (time, left))
HELD(int, usleep, (useconds_t time), (time))
HELD(unsigned, sleep, (unsigned time), (time))
HELD(int, pause, (void), ())
HELD(int, poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))
HELD(int, select, (int count, fd_set* in, fd_set* out, fd_set* other, struct timeval* timeout),
     (count, in, out, other, timeout))
HELD(int, epoll_wait, (int fd, struct epoll_event* events, int most, int timeout),
     (fd, events, most, timeout))
HELD(int, semop, (int id, struct sembuf* operations, size_t count), (id, operations, count))
HELD(int, semtimedop, (int id, struct sembuf* operations, size_t count, const struct timespec* timeout),
     (id, operations, count, timeout))
HELD(int, msgsnd, (int id, const void* message, size_t size, int flags), (id, message, size, flags))
HELD(ssize_t, msgrcv, (int id, void* message, size_t size, long type, int flags),
     (id, message, size, type, flags))
HELD(int, sem_timedwait, (sem_t * semaphore, const struct timespec* until), (semaphore, until))
HELD(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec* until),
     (semaphore, clock, until))
HELD(int, aio_suspend, (const struct aiocb* const list[], int count, const struct timespec* timeout),
     (list, count, timeout))
HELD(ssize_t, sendfile, (int to, int from, off_t* offset, size_t count), (to, from, offset, count))
HELD(ssize_t, splice, (int from, off64_t* from_at, int to, off64_t* to_at, size_t size, unsigned flags),
     (from, from_at, to, to_at, size, flags))
HELD(ssize_t, getrandom, (void* to, size_t size, unsigned flags), (to, size, flags))

/* What programs compiled with _FORTIFY_SOURCE call. */
int __poll_chk(struct pollfd* fds, nfds_t count, int timeout, size_t size);
HELD(int, __poll_chk, (struct pollfd * fds, nfds_t count, int timeout, size_t size),
     (fds, count, timeout, size))

/* libaio's, which gives errors as its result. That library may be loaded later, where nobody finds its own.
 */
AGENT_EXPORT int io_getevents(void* context, long least, long most, void* events, struct timespec* timeout) {
  const struct hold hold = hold_signal();
  const int saved = errno;
  const long result = direct(SYS_io_getevents, context, least, most, events, timeout);
  const int error = errno;
  errno = saved;
  let_go(hold);
  return result < 0 ? -error : (int)result;
}

/* Those that set a mask for their time get ours in it. */
static const sigset_t* with_own(const sigset_t* mask, sigset_t* copy) {
  if (mask == NULL || process.signal == 0) return mask;
  *copy = *mask;
  sigaddset(copy, process.signal);
  return copy;
}

#define MASKED(name, parameters, arguments)                                 \
  AGENT_EXPORT int name parameters {                                        \
    sigset_t copy;                                                          \
    const struct hold hold = mask == NULL ? hold_signal() : hold_by_mask(); \
    mask = with_own(mask, &copy);                                           \
    const int result = REAL(name) arguments;                                \
    let_go(hold);                                                           \
    return result;                                                          \
  }

MASKED(ppoll, (struct pollfd * fds, nfds_t count, const struct timespec* timeout, const sigset_t* mask),
       (fds, count, timeout, mask))
MASKED(pselect,
       (int count, fd_set* in, fd_set* out, fd_set* other, const struct timespec* timeout,
        const sigset_t* mask),
       (count, in, out, other, timeout, mask))
MASKED(epoll_pwait, (int fd, struct epoll_event* events, int most, int timeout, const sigset_t* mask),
       (fd, events, most, timeout, mask))
MASKED(epoll_pwait2,
       (int fd, struct epoll_event* events, int most, const struct timespec* timeout, const sigset_t* mask),
       (fd, events, most, timeout, mask))
int __ppoll_chk(struct pollfd* fds, nfds_t count, const struct timespec* timeout, const sigset_t* mask,
                size_t size);
MASKED(__ppoll_chk,
       (struct pollfd * fds, nfds_t count, const struct timespec* timeout, const sigset_t* mask, size_t size),
       (fds, count, timeout, mask, size))

/* Sockets with a timeout are not waited for again; those without are. */
static atomic_int timeouts;

AGENT_EXPORT int setsockopt(int fd, int level, int option, const void* value, socklen_t size) {
  if (level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO)) atomic_store(&timeouts, 1);
  return REAL(setsockopt)(fd, level, option, value, size);
}

#define HELD_IF(condition, type, name, parameters, arguments)                           \
  AGENT_EXPORT type name parameters {                                                   \
    if (LIKELY(!(condition) && !atomic_load_explicit(&timeouts, memory_order_relaxed))) \
      return REAL(name) arguments;                                                      \
    const struct hold hold = hold_signal();                                             \
    const type result = REAL(name) arguments;                                           \
    let_go(hold);                                                                       \
    return result;                                                                      \
  }

HELD_IF(0, ssize_t, read, (int fd, void* to, size_t size), (fd, to, size))
HELD_IF(0, ssize_t, readv, (int fd, const struct iovec* to, int count), (fd, to, count))
HELD_IF((flags & MSG_WAITALL) != 0, ssize_t, recv, (int fd, void* to, size_t size, int flags),
        (fd, to, size, flags))
HELD_IF((flags & MSG_WAITALL) != 0, ssize_t, recvfrom,
        (int fd, void* to, size_t size, int flags, struct sockaddr* from, socklen_t* length),
        (fd, to, size, flags, from, length))
HELD_IF((flags & MSG_WAITALL) != 0, ssize_t, recvmsg, (int fd, struct msghdr* message, int flags),
        (fd, message, flags))
HELD_IF(1, int, recvmmsg,
        (int fd, struct mmsghdr* messages, unsigned count, int flags, struct timespec* timeout),
        (fd, messages, count, flags, timeout))
HELD_IF(0, int, accept, (int fd, struct sockaddr* address, socklen_t* length), (fd, address, length))
HELD_IF(0, int, accept4, (int fd, struct sockaddr* address, socklen_t* length, int flags),
        (fd, address, length, flags))
HELD_IF(0, int, connect, (int fd, const struct sockaddr* address, socklen_t length), (fd, address, length))
HELD_IF(size > WHOLE_WRITE, ssize_t, write, (int fd, const void* from, size_t size), (fd, from, size))
HELD_IF(1, ssize_t, writev, (int fd, const struct iovec* from, int count), (fd, from, count))
HELD_IF(size > WHOLE_WRITE, ssize_t, send, (int fd, const void* from, size_t size, int flags),
        (fd, from, size, flags))
HELD_IF(size > WHOLE_WRITE, ssize_t, sendto,
        (int fd, const void* from, size_t size, int flags, const struct sockaddr* to, socklen_t length),
        (fd, from, size, flags, to, length))
HELD_IF(1, ssize_t, sendmsg, (int fd, const struct msghdr* message, int flags), (fd, message, flags))
HELD_IF(1, int, sendmmsg, (int fd, struct mmsghdr* messages, unsigned count, int flags),
        (fd, messages, count, flags))

static int waits(long number) {
  switch (number) {
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_pause:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_futex:
    case SYS_futex_waitv:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgsnd:
    case SYS_msgrcv:
    case SYS_io_getevents:
    case SYS_io_pgetevents:
    case SYS_io_uring_enter:
    case SYS_rt_sigtimedwait:
    case SYS_getrandom:
      return 1;
    default:
      return 0;
  }
}

AGENT_EXPORT long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  const long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long);
  const long d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
  va_end(list);
  const int strict = number == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER);
  if (strict || (number == SYS_prctl && a == PR_SET_SECCOMP)) process_seal();
  if (!waits(number)) return REAL(syscall)(number, a, b, c, d, e, f);
  const struct hold hold = hold_signal();
  const long result = REAL(syscall)(number, a, b, c, d, e, f);
  let_go(hold);
  return result;
}
