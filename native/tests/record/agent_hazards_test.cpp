// What threads and signal handlers of the agent share, and what handlers that leave by a jump leave behind.
#include <gtest/gtest.h>
#include <signal.h>

#include "agent_run.h"

namespace cacheline::record::test {
namespace {

constexpr uint64_t kFew = 5;  // samples: at most so many are taken before the first jump

/// Two threads set two actions in turn, while handlers on both and the first thread read which it is.
TEST(AgentHazards, AnActionForItsSignalIsNeverReadTorn) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
static volatile int stop, torn, misled;
static volatile sig_atomic_t handled;
static struct sigaction plain, informed;
static void look(const struct sigaction* a) {
  const int is_plain = a->sa_handler == plain.sa_handler;
  if (!is_plain && a->sa_handler != informed.sa_handler) torn++;
  if (((a->sa_flags & SA_SIGINFO) == 0) != is_plain) torn++;
  if ((sigismember(&a->sa_mask, SIGUSR1) == 1) != is_plain) torn++;
  if ((sigismember(&a->sa_mask, SIGRTMIN + 20) == 1) == is_plain) torn++;
}
static void read_one(void) {
  struct sigaction now;
  sigaction(SIGRTMAX - 2, 0, &now);
  look(&now);
}
static void on_plain(int s) { handled++; }
static void on_informed(int s, siginfo_t* info, void* context) { handled++; misled += info->si_signo != s; }
static void on_usr2(int s) { read_one(); }
static void* change(void* unused) {
  struct sigaction before;
  while (!stop) {
    sigaction(SIGRTMAX - 2, &informed, &before);
    look(&before);
    sigaction(SIGRTMAX - 2, &plain, &before);
    look(&before);
  }
  return 0;
}
int main() {
  plain.sa_handler = on_plain;
  sigaddset(&plain.sa_mask, SIGUSR1);
  informed.sa_sigaction = on_informed;
  informed.sa_flags = SA_SIGINFO;
  sigaddset(&informed.sa_mask, SIGRTMIN + 20);
  struct sigaction reading = {.sa_handler = on_usr2};
  sigaction(SIGUSR2, &reading, 0);
  sigaction(SIGRTMAX - 2, &plain, 0);
  pthread_t ids[2];
  for (int i = 0; i < 2; i++) pthread_create(&ids[i], 0, change, 0);
  int sent = 0;
  for (const double until = used(CLOCK_THREAD_CPUTIME_ID) + 0.5; used(CLOCK_THREAD_CPUTIME_ID) < until; sent++) {
    raise(SIGRTMAX - 2);
    pthread_kill(ids[sent % 2], SIGUSR2);
    for (int i = 0; i < 100; i++) read_one();
  }
  stop = 1;
  for (int i = 0; i < 2; i++) pthread_join(ids[i], 0);
  printf("torn %d, misled %d, missed %d\n", torn, misled, sent - handled);
})");
  EXPECT_EQ(run.output, "torn 0, misled 0, missed 0\n");
}

TEST(AgentHazards, MoreActionsThanItHasPlacesForAreAnsweredRight) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
static void on(int s) {}
static sigset_t mask_of(int number) {
  sigset_t set;
  sigemptyset(&set);
  for (int bit = 0; bit < 10; bit++) if (number >> bit & 1) sigaddset(&set, SIGRTMIN + bit);
  return set;
}
int main() {
  int wrong = 0;
  for (int i = 0; i < 3000; i++) {
    struct sigaction action = {.sa_handler = on, .sa_mask = mask_of(i % 1000)}, before;
    sigaction(SIGRTMAX - 2, &action, &before);
    const sigset_t last = mask_of((i + 999) % 1000);
    for (int s = SIGRTMIN; s < SIGRTMIN + 10; s++) wrong += i > 0 && sigismember(&before.sa_mask, s) != sigismember(&last, s);
  }
  printf("%d wrong\n", wrong);
  burn(0.1);
})");
}

/// Each in a thread of its own, which works only after its jumps.
TEST(AgentHazards, AThreadIsSampledAfterHandlersHaveJumpedOutOfItsWaits) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
#include <poll.h>
#include <setjmp.h>
#define JUMPS 20
static __thread jmp_buf back;
static __thread volatile int jumps, ready;
static volatile int done;
static void on(int s) {
  if (ready && jumps++ < JUMPS) longjmp(back, 1);
}
static void* work(void* kind) {
  struct timespec minute = {60, 0};
  sigset_t none, usr1;
  sigemptyset(&none);
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  setjmp(back);
  ready = 1;
  pthread_sigmask(SIG_UNBLOCK, &usr1, 0);
  if (jumps < JUMPS) switch ((long)kind) {
    case 0: for (;;) pause();
    case 1: for (;;) nanosleep(&minute, 0);
    case 2: for (;;) poll(0, 0, 60000);
    case 3: for (;;) ppoll(0, 0, &minute, &none);
    case 4: for (;;) sigsuspend(&none);
  }
  pthread_sigmask(SIG_BLOCK, &usr1, 0);
  done = 1;
  burn(0.5);
  return 0;
}
int main() {
  struct sigaction action = {.sa_handler = on, .sa_flags = SA_NODEFER};
  sigaction(SIGUSR1, &action, 0);
  for (long kind = 0; kind < 5; kind++) {
    pthread_t id;
    char name[16];
    sprintf(name, "wait %ld", kind);
    prctl(PR_SET_NAME, name); /* the new thread's, too, from its first sample on */
    done = 0;
    pthread_create(&id, 0, work, (void*)kind);
    for (; !done; usleep(1000)) pthread_kill(id, SIGUSR1);
    pthread_join(id, 0);
  }
  puts("left");
})");
  for (const char* name : {"wait 0", "wait 1", "wait 2", "wait 3", "wait 4"})
    EXPECT_GT(run.recorded->samplesByComm[name], kFew) << name << ", " << run.recorded->samples << " in all";
  EXPECT_TRUE(run.warnings.empty()) << run.warnings[0];
}

/// The program's stack may have no room for the agent's signal until the jump is over.
TEST(AgentHazards, HandlersThatJumpOffAnAlternateStackAreCountedUntilTheNextWait) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
#include <setjmp.h>
static char area[65536];
static jmp_buf back;
static volatile int jumps;
static void on(int s) { longjmp(back, 1); }
int main() {
  stack_t stack = {.ss_sp = area, .ss_size = sizeof area};
  sigaltstack(&stack, 0);
  struct sigaction action = {.sa_handler = on, .sa_flags = SA_ONSTACK | SA_NODEFER};
  sigaction(SIGUSR1, &action, 0);
  setjmp(back);
  if (jumps++ < 20) raise(SIGUSR1);
  usleep(1000);
  burn(0.5);
  printf("%d jumps\n", jumps);
})");
  EXPECT_GT(run.recorded->samples, kFew);
  EXPECT_TRUE(anyContains(run.warnings, "1 thread was not sampled for some time: a signal handler"));
}

/// A handler for the agent's own signal runs inside the agent's, which blocks all signals.
TEST(AgentHazards, AHandlerOfItsSignalThatJumpsLeavesTheMaskThatItWouldLeave) {
  const TemporaryFolder folder;
  for (const char* flags : {"0", "0x40000000"}) {
    AgentRun run;
    expectSame(folder, run, R"(
#include <setjmp.h>
static jmp_buf back;
static volatile int came, others;
static void on(int s) {
  came++;
  longjmp(back, 1);
}
static void on_other(int s) { others++; }
static void show(void) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, 0, &now);
  for (int s = 1; s <= 64; s++) if (sigismember(&now, s) == 1) printf(" %d", s);
  puts(" are blocked");
}
int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = on, .sa_flags = strtoul(argv[1], 0, 0)};
  sigaddset(&action.sa_mask, SIGUSR2);
  sigaction(SIGRTMAX - 2, &action, 0);
  signal(SIGUSR1, on_other);
  for (volatile int i = 0; i < 20; i++) {
    if (setjmp(back) == 0) raise(SIGRTMAX - 2);
    if (i == 0) show();
    raise(SIGUSR1);
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGRTMAX - 2);
    sigaddset(&both, SIGUSR2);
    sigprocmask(SIG_UNBLOCK, &both, 0);
  }
  show();
  burn(0.5);
  printf("came %d, others %d\n", came, others);
})",
               {flags});
    EXPECT_GT(run.recorded->samples, kFew);
  }
}

/// The thread sanitizer watches threads that look at the mappings while some of them read what is new.
TEST(AgentHazards, MappingsAreLookedUpWithoutADataRace) {
  const TemporaryFolder folder;
  writeFile(folder.file("main.c"), R"(
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "record/agent/sampler.h"
struct sampler_process process;
static struct sampler_file_header header;
static atomic_long recorded;
uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
int put_mapping(const struct mapping* mapping, uint64_t time) { return atomic_fetch_add(&recorded, 1) >= 0; }
static void* work(void* ours) {
  for (int i = 0; i < 3000; i++) {
    void* place = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uint64_t registers[] = {(uint64_t)place, (uint64_t)&i, (uint64_t)ours};
    if (i % 16 == 0) maps_stale(i % 32 == 0);
    maps_look((uint64_t)work, registers, 3, now_ns());
    if (i % 3 == 0) munmap(place, 4096);
  }
  return 0;
}
int main() {
  process.file = &header;
  pthread_t ids[3];
  for (int i = 0; i < 3; i++) pthread_create(&ids[i], 0, work, &header);
  for (int i = 0; i < 3; i++) pthread_join(ids[i], 0);
  puts(recorded > 0 ? "recorded" : "nothing");
})");
  const ShellResult built =
      shell(std::string(CACHELINE_TEST_CC) + " -O1 -g -w -D_GNU_SOURCE -fsanitize=thread -pthread -I " +
            CACHELINE_NATIVE + " -o " + folder.file("program") + " " + folder.file("main.c") + " " +
            CACHELINE_NATIVE + "/record/agent/maps.c");
  if (built.status != 0) GTEST_SKIP() << "the compiler has no thread sanitizer: " << built.output;
  // It knows no place for itself among addresses that are chosen too freely.
  const ShellResult ran = shell("setarch -R " + folder.file("program"));
  if (contains(ran.output, "unexpected memory mapping")) GTEST_SKIP() << ran.output;
  EXPECT_EQ(ran.output, "recorded\n");
  EXPECT_EQ(ran.status, 0);
}

}  // namespace
}  // namespace cacheline::record::test
