// System calls that a signal ends early: with the agent in them, programs see what they see without it.
#include <gtest/gtest.h>

#include "tests/record/agent_run.h"

namespace cacheline::record::test {
namespace {

constexpr uint32_t kWallFrequency = 2000;  // hits threads that wait, too

const char* const kHead = R"(
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>
static volatile long sink;
static void spin(void) { for (int i = 0; i < 300000; i++) sink++; }
static const struct timespec brief = {0, 3000000};
static struct timespec soon(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += 3000000;
  if (t.tv_nsec >= 1000000000) t.tv_nsec -= 1000000000, t.tv_sec++;
  return t;
}
/* Says how often a call ended otherwise than expected. */
#define CHECK(name, good, ...)                             \
  {                                                        \
    int bad = 0, last = 0;                                 \
    for (int round = 0; round < 40; round++) {             \
      spin();                                              \
      errno = 0;                                           \
      __VA_ARGS__;                                         \
      if (!(good)) bad++, last = errno;                    \
    }                                                      \
    printf("%s: %d otherwise, errno %d\n", name, bad, last); \
  }
)";

/// The same output and status without the agent, with it, and with it by the wall clock.
void expectSame(const std::string& source, const std::string& flags = "-O1 -g",
                const std::vector<std::string>& arguments = {}) {
  const TemporaryFolder folder;
  std::vector<std::string> command{compile(folder, "program", kHead + source, flags + " -w")};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const Alone alone(command);
  for (const uint32_t frequency : {agentFrequency(), kWallFrequency}) {
    const TemporaryFolder output;
    AgentRun run;
    run.frequency = frequency;
    run.run(output, command);
    EXPECT_EQ(run.output, alone.output) << frequency << " Hz";
    EXPECT_EQ(run.status, alone.status) << frequency << " Hz";
    EXPECT_GT(run.recorded->samples, 0u) << frequency << " Hz";
  }
}

TEST(AgentCalls, SleepsLastTheirTime) {
  expectSame(R"(
int main() {
  int r;
  CHECK("nanosleep", r == 0, r = nanosleep(&brief, 0));
  CHECK("clock_nanosleep", r == 0, r = clock_nanosleep(CLOCK_MONOTONIC, 0, &brief, 0));
  CHECK("clock_nanosleep until", r == 0,
        struct timespec until = soon(CLOCK_MONOTONIC); r = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0));
  CHECK("usleep", r == 0, r = usleep(3000));
  CHECK("thrd_sleep", r == 0, r = thrd_sleep(&brief, 0));
  CHECK("syscall", r == 0, r = syscall(SYS_nanosleep, &brief, 0));
  printf("sleep: %d left\n", sleep(1));
})");
}

TEST(AgentCalls, WaitsForDescriptorsEndByTheirTimeout) {
  expectSame(R"(
int main() {
  int r, ends[2];
  if (pipe(ends) != 0) return 9;
  const int set = epoll_create1(0);
  struct epoll_event event = {EPOLLIN};
  epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
  struct pollfd one = {ends[0], POLLIN, 0};
  sigset_t none;
  sigemptyset(&none);
  fd_set in;
  FD_ZERO(&in);
  CHECK("poll", r == 0, r = poll(&one, 1, 3));
  CHECK("ppoll", r == 0, r = ppoll(&one, 1, &brief, 0));
  CHECK("ppoll with a mask", r == 0, r = ppoll(&one, 1, &brief, &none));
  CHECK("select", r == 0, FD_SET(ends[0], &in); struct timeval t = {0, 3000}; r = select(ends[0] + 1, &in, 0, 0, &t));
  CHECK("pselect", r == 0, FD_SET(ends[0], &in); r = pselect(ends[0] + 1, &in, 0, 0, &brief, 0));
  CHECK("pselect with a mask", r == 0, FD_SET(ends[0], &in); r = pselect(ends[0] + 1, &in, 0, 0, &brief, &none));
  CHECK("epoll_wait", r == 0, r = epoll_wait(set, &event, 1, 3));
  CHECK("epoll_pwait", r == 0, r = epoll_pwait(set, &event, 1, 3, &none));
  int pair[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  struct timeval limit = {0, 3000};
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte;
  CHECK("recv", r == -1 && errno == EAGAIN, r = recv(pair[0], &byte, 1, 0));
  CHECK("read", r == -1 && errno == EAGAIN, r = read(pair[0], &byte, 1));
})");
}

TEST(AgentCalls, WaitsForSemaphoresMessagesAndSignalsEndAsTheyDo) {
  expectSame(R"(
int main() {
  int r;
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  CHECK("sem_timedwait", r == -1 && errno == ETIMEDOUT,
        struct timespec until = soon(CLOCK_REALTIME); r = sem_timedwait(&semaphore, &until));
  CHECK("sem_clockwait", r == -1 && errno == ETIMEDOUT,
        struct timespec until = soon(CLOCK_MONOTONIC); r = sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until));
  pthread_mutex_lock(&mutex);
  CHECK("pthread_mutex_timedlock", r == ETIMEDOUT,
        struct timespec until = soon(CLOCK_REALTIME); r = pthread_mutex_timedlock(&mutex, &until));
  int word = 0;
  CHECK("futex", r == -1 && errno == ETIMEDOUT, r = syscall(SYS_futex, &word, FUTEX_WAIT, 0, &brief));
  const int set = semget(IPC_PRIVATE, 1, 0600), queue = msgget(IPC_PRIVATE, 0600);
  struct sembuf take = {0, -1, 0};
  CHECK("semtimedop", r == -1 && errno == EAGAIN, r = semtimedop(set, &take, 1, &brief));
  semctl(set, 0, IPC_RMID);
  struct { long type; char text[8]; } message = {1, "text"};
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 40; i++) {
      spin();
      nanosleep(&brief, 0);
      msgsnd(queue, &message, sizeof message.text, 0);
    }
    _exit(0);
  }
  CHECK("msgrcv", r == 8, r = msgrcv(queue, &message, sizeof message.text, 0, 0));
  CHECK("waitpid", r == child || errno == ECHILD, r = waitpid(child, 0, 0));
  msgctl(queue, IPC_RMID, 0);
  sigset_t all, usr;
  sigfillset(&all);
  sigemptyset(&usr);
  sigaddset(&usr, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr, 0);
  siginfo_t info;
  CHECK("sigtimedwait", r == -1 && errno == EAGAIN, r = sigtimedwait(&usr, &info, &brief));
  pthread_sigmask(SIG_SETMASK, &all, 0);
  CHECK("sigtimedwait for all", r == -1 && errno == EAGAIN, r = sigtimedwait(&all, &info, &brief));
  CHECK("sigwaitinfo", r == SIGUSR1, kill(getpid(), SIGUSR1); r = sigwaitinfo(&all, &info));
  CHECK("sigwait", r == 0, kill(getpid(), SIGUSR1); int got; r = sigwait(&all, &got) + got - SIGUSR1);
})");
}

TEST(AgentCalls, OnlyTheProgramsSignalsEndAWaitForSignals) {
  expectSame(R"(
static volatile sig_atomic_t alarms;
static void on_alarm(int s) { alarms++; }
int main() {
  struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, 0);
  int r;
  struct itimerval in = {{0, 4000}, {0, 4000}}, never = {};
  sigset_t none;
  sigemptyset(&none);
  CHECK("pause", r == -1 && errno == EINTR && alarms > 0, alarms = 0; setitimer(ITIMER_REAL, &in, 0); r = pause(); int e = errno; setitimer(ITIMER_REAL, &never, 0); errno = e);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarm, 0);
  CHECK("sigsuspend", r == -1 && errno == EINTR && alarms > 0,
        alarms = 0; setitimer(ITIMER_REAL, &in, 0); r = sigsuspend(&none); int e = errno; setitimer(ITIMER_REAL, &never, 0); errno = e);
  sigprocmask(SIG_UNBLOCK, &alarm, 0);
  struct timespec second = {1, 0}, left;
  CHECK("nanosleep", r == -1 && errno == EINTR && alarms > 0,
        alarms = 0; setitimer(ITIMER_REAL, &in, 0); r = nanosleep(&second, &left); int e = errno; setitimer(ITIMER_REAL, &never, 0); errno = e);
  CHECK("poll", r == -1 && errno == EINTR && alarms > 0,
        alarms = 0; setitimer(ITIMER_REAL, &in, 0); r = poll(0, 0, 1000); int e = errno; setitimer(ITIMER_REAL, &never, 0); errno = e);
})");
}

TEST(AgentCalls, LargeTransfersAreWhole) {
  expectSame(R"(
static char big[4 << 20], other[4 << 20];
static int ends[2];
static void* drain(void* unused) {
  long total = 0, n;
  while ((n = read(ends[0], other, 20000)) > 0) {
    total += n;
    if (total % 3 == 0) usleep(200);
    spin();
  }
  printf("read %ld\n", total);
  return 0;
}
int main() {
  pthread_t id;
  for (int kind = 0; kind < 2; kind++) {
    if (kind == 0) pipe(ends); else { int pair[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, pair); ends[0] = pair[0]; ends[1] = pair[1]; }
    pthread_create(&id, 0, drain, 0);
    const long a = write(ends[1], big, sizeof big);
    struct iovec parts[2] = {{big, 1 << 20}, {big, 1 << 20}};
    const long b = writev(ends[1], parts, 2);
    const long c = kind == 1 ? send(ends[1], big, sizeof big, 0) : 0;
    close(ends[1]);
    pthread_join(id, 0);
    printf("wrote %ld %ld %ld\n", a, b, c);
  }
  int pair[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  if (fork() == 0) {
    for (int i = 0; i < 64; i++) { spin(); send(pair[1], big, 16384, 0); }
    _exit(0);
  }
  printf("received %ld\n", (long)recv(pair[0], big, 1 << 20, MSG_WAITALL));
  wait(0);
  printf("random %ld\n", (long)getrandom(big, sizeof big, 0));
})");
}

TEST(AgentCalls, FortifiedAndCancelledCallsWork) {
  expectSame(R"(
static void* sleeper(void* unused) {
  for (;;) { spin(); struct timespec t = {10, 0}; nanosleep(&t, 0); }
}
int main() {
  struct pollfd fds[2] = {{-1}, {-1}};
  volatile int count = 2;
  int r;
  CHECK("poll", r == 0, r = poll(fds, count, 3));
  for (int i = 0; i < 20; i++) {
    pthread_t id;
    void* result;
    pthread_create(&id, 0, sleeper, 0);
    usleep(3000);
    pthread_cancel(id);
    pthread_join(id, &result);
    if (result != PTHREAD_CANCELED) puts("not cancelled");
  }
  /* Timers of CPU time fire at the kernel's ticks. On a busy machine a thread that has waited goes on just
     after one, and these short turns end before the next: samples are only certain of a longer one. */
  for (int i = 0; i < 100; i++) spin();
})",
             "-O2 -g -D_FORTIFY_SOURCE=2");
}

}  // namespace
}  // namespace cacheline::record::test
