// Where the agent's handler runs, what it calls, and whose timers it deletes.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "agent_run.h"
#include "fixture.h"

namespace cacheline::record::test {
namespace {

/// What dlsym is called for once main has begun: the agent calls the program's, since that exports it.
TEST(AgentSignal, NothingIsLookedUpOnceTheProgramRuns) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
#include <poll.h>
#include <sys/socket.h>
static volatile int running, calls;
void* dlsym(void* library, const char* name) {
  if (running) calls++;
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return dlvsym(libc, name, strstr(name, "pthread_create") ? "GLIBC_2.34" : "GLIBC_2.2.5");
}
static void on(int s) {
  char byte;
  struct timespec none = {0, 0};
  sigset_t set;
  read(-1, &byte, 1);
  write(-1, &byte, 1);
  recv(-1, &byte, 1, 0);
  poll(0, 0, 0);
  nanosleep(&none, 0);
  sigemptyset(&set);
  sigprocmask(SIG_BLOCK, &set, 0);
  signal(SIGUSR2, SIG_DFL);
}
int main() {
  running = 1;
  struct sigaction action = {.sa_handler = on};
  sigaction(SIGUSR1, &action, 0);
  raise(SIGUSR1);
  burn(0.1);
  printf("%d look-ups\n", calls);
})",
             {}, "-O1 -g -w -rdynamic");
  EXPECT_TRUE(contains(run.output, "0 look-ups")) << run.output;
}

/// A library's own initializer runs before the agent's.
TEST(AgentSignal, InitializersOfLibrariesMayCallAnything) {
  const TemporaryFolder folder;
  const std::string library = compile(folder, "libearly.so", R"(
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
static char area[65536];
static void on(int s) { int here; write(1, (char*)&here >= area && (char*)&here < area + sizeof area ? "own\n" : "?\n", 4); }
__attribute__((constructor)) static void start(void) {
  stack_t stack = {.ss_sp = area, .ss_size = sizeof area};
  sigaltstack(&stack, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, 0);
  poll(0, 0, 1);
})",
                                      "-O1 -fPIC -shared -w");
  AgentRun run;
  expectSame(folder, run, "int main() { raise(SIGUSR1); burn(0.1); return 0; }", {},
             "-O1 -g -w -Wl,--no-as-needed " + library);
  EXPECT_EQ(run.output, "own\n");
}

/// libaio's, in a library that is loaded where the agent does not find it.
TEST(AgentSignal, ACallOfALibraryThatIsLoadedLaterWorks) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
int main() {
  int (*get)(void*, long, long, void*, void*) = dlsym(RTLD_DEFAULT, "io_getevents");
  errno = 77;
  if (get) printf("%d\n", get(0, 1, 1, 0, 0) == -EINVAL && errno == 77); else puts("1");
  burn(0.1);
})");
}

/// The signal's frame alone is larger than what these leave.
TEST(AgentSignal, CoroutinesOnSmallStacksAreSampled) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
#include <sys/mman.h>
#include <ucontext.h>
static ucontext_t outer, inner;
static void start(void) { for (long i = 0; i < 300000000; i++) sink++; }
static void* on_thread(void* unused) {
  char* memory = mmap(0, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + 4096, 4096, PROT_READ | PROT_WRITE);
  getcontext(&inner);
  inner.uc_stack.ss_sp = memory + 4096;
  inner.uc_stack.ss_size = 1200;
  inner.uc_link = &outer;
  makecontext(&inner, start, 0);
  swapcontext(&outer, &inner);
  puts("returned");
  return 0;
}
int main() {
  on_thread(0);
  pthread_t id;
  pthread_create(&id, 0, on_thread, 0);
  pthread_join(id, 0);
})");
  EXPECT_EQ(run.recorded->sampledTids.size(), 2u);
  EXPECT_TRUE(run.warnings.empty()) << run.warnings[0];
}

const char* const kSmallThread = R"(
static void* work(void* unused) { burn(0.2); return 0; }
static void on(int s) {}
int main(int argc, char** argv) {
  if (argc > 1) {
    struct sigaction action = {.sa_handler = on, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, 0);
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, sysconf(_SC_THREAD_STACK_MIN));
  pthread_t id;
  printf("%d", pthread_create(&id, &attributes, work, 0));
  printf(" %d\n", pthread_join(id, 0));
  burn(0.1);
})";

TEST(AgentSignal, ThreadsWithSmallStacksAreSampled) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, kSmallThread);
  EXPECT_EQ(run.recorded->sampledTids.size(), 2u);
  EXPECT_TRUE(run.warnings.empty()) << run.warnings[0];
}

TEST(AgentSignal, SmallStacksAreLeftAloneAndSaidWhereTheProgramUsesAlternateStacks) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, kSmallThread, {"handler"});
  EXPECT_EQ(run.recorded->sampledTids.size(), 1u);
  EXPECT_TRUE(anyContains(run.warnings, "1 thread was not sampled: a stack of less than 64 KiB"));
}

/// All that the kernel says of alternate stacks is said as without the agent, and handlers run where they
/// did.
TEST(AgentSignal, AlternateStacksAreTheProgramsOwn) {
  const TemporaryFolder folder;
  for (const char* autodisarm : {"0", "0x80000000"}) {
    AgentRun run;
    expectSame(folder, run, R"(
static char area[65536];
static void show(const char* when) {
  stack_t now = {(void*)1, 2, 3};
  const int result = sigaltstack(0, &now);
  printf("%s: %d %s %x %ld\n", when, result, now.ss_sp == area ? "own" : now.ss_sp ? "?" : "none", now.ss_flags, (long)now.ss_size);
}
static void on(int s, siginfo_t* info, void* context) {
  char here;
  show(&here >= area && &here < area + sizeof area ? "on it" : "elsewhere");
  sigset_t mask;
  sigprocmask(SIG_BLOCK, 0, &mask);
  printf("62 is masked: %d\n", sigismember(&mask, SIGRTMAX - 2));
  burn(0.05);
}
static void handle(int s, int flags) {
  struct sigaction action = {.sa_sigaction = on, .sa_flags = SA_SIGINFO | flags}, now;
  sigaction(s, &action, 0);
  sigaction(s, 0, &now);
  printf("handler's mask has 62: %d\n", sigismember(&now.sa_mask, SIGRTMAX - 2));
}
static void* on_thread(void* unused) {
  show("at first in a thread");
  raise(SIGUSR1);
  raise(SIGUSR2);
  burn(0.1);
  return 0;
}
int main(int argc, char** argv) {
  show("at first");
  burn(0.1);
  stack_t small = {.ss_sp = area, .ss_size = 16}, stack = {.ss_sp = area, .ss_size = sizeof area, .ss_flags = strtoul(argv[1], 0, 0)};
  stack_t before = {}, odd = {.ss_sp = area, .ss_size = sizeof area, .ss_flags = 7};
  printf("%d", sigaltstack(&small, 0));
  printf(" %d", errno);
  printf(" %d", sigaltstack(&odd, 0));
  printf(" %d\n", errno);
  show("refused");
  sigaltstack(&stack, &before);
  printf("before: %p %x %ld\n", before.ss_sp, before.ss_flags, (long)before.ss_size);
  show("set");
  burn(0.1);
  show("set");
  handle(SIGUSR2, 0);
  handle(SIGUSR1, SA_ONSTACK);
  raise(SIGUSR1);
  raise(SIGUSR2);
  show("afterwards");
  burn(0.1);
  if (fork() == 0) { show("child"); burn(0.05); exit(0); }
  wait(0);
  pthread_t id;
  pthread_create(&id, 0, on_thread, 0);
  pthread_join(id, 0);
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, &before);
  printf("before: %d %ld\n", before.ss_sp == area, (long)before.ss_size);
  show("disabled");
  raise(SIGUSR1);
  burn(0.1);
})",
               {autodisarm});
    EXPECT_GE(run.recorded->sampledTids.size(), 2u);
    EXPECT_TRUE(run.warnings.empty()) << run.warnings[0];
  }
}

/// The stack of this size is valid, and a signal on it would end the program.
TEST(AgentSignal, WhereTheProgramsAlternateStackIsTooSmallNothingIsSampledAndThatIsSaid) {
  const TemporaryFolder folder;
  const auto source = [](const char* between) {
    return std::string(kAgentProgramHead) + R"(
#include <sys/mman.h>
int main() {
  char* memory = mmap(0, 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + 4096, 4096, PROT_READ | PROT_WRITE);
  stack_t stack = {.ss_sp = memory + 4096, .ss_size = 2048};
  if (sigaltstack(&stack, 0) != 0) return errno;
  burn(0.3);
  stack.ss_flags = SS_DISABLE;
)" + between +
           R"(
  burn(0.3);
  puts("lives");
})";
  };
  AgentRun small, disabled;
  small.run(folder, {compile(folder, "small", source(""), "-O1 -w")});
  if (small.status == ENOMEM)
    GTEST_SKIP() << "this kernel refuses alternate stacks without room for a signal";
  EXPECT_EQ(small.output, "lives\n") << small.status;
  EXPECT_EQ(small.recorded->samples, 0u);
  EXPECT_TRUE(anyContains(small.warnings, "1 thread was not sampled for some time: the program's alternate"));
  disabled.run(folder, {compile(folder, "disabled", source("sigaltstack(&stack, 0);"), "-O1 -w")});
  EXPECT_EQ(disabled.output, "lives\n") << disabled.status;
  EXPECT_GT(disabled.recorded->samples, 0u);
  EXPECT_TRUE(anyContains(disabled.warnings, "1 thread was not sampled for some time"));
}

TEST(AgentSignal, ACrashForWantOfStackIsHandledOnTheProgramsAlternateStack) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
static char area[65536];
static void on_fault(int s) { write(1, "fault\n", 6); signal(SIGSEGV, SIG_DFL); }
static long deeper(long n) { volatile char room[512]; room[0] = n; return deeper(n + 1) + room[0]; }
int main() {
  stack_t stack = {.ss_sp = area, .ss_size = sizeof area}, now;
  sigaltstack(0, &now);
  printf("%d\n", now.ss_flags);
  sigaltstack(&stack, 0);
  struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
  sigaction(SIGSEGV, &action, 0);
  burn(0.1);
  fflush(stdout);
  return deeper(0);
})");
  EXPECT_EQ(run.status, 128 + SIGSEGV);
}

/// Its runtime gives each thread an alternate stack of 8 KiB, and reports overflows from there.
TEST(AgentSignal, RustProgramsAreSampledInEachThread) {
  NEED_TOOL("rustc", "rustc");
  const TemporaryFolder folder;
  writeFile(folder.file("main.rs"), R"(
use std::hint::black_box;
fn spin(n: u64) -> u64 { (0..n).fold(0, |a, b| black_box(a ^ b)) }
fn deep(n: u64) -> u64 { let room = black_box([n; 64]); deep(n + 1) + room[(n % 64) as usize] }
fn main() {
    let threads: Vec<_> = (0..2).map(|_| std::thread::spawn(|| spin(300_000_000))).collect();
    spin(300_000_000);
    for thread in threads { thread.join().unwrap(); }
    println!("spun");
    if std::env::args().count() > 1 { println!("{}", deep(0)); }
})");
  const ShellResult built = shell("rustc -O -o " + folder.file("program") + " " + folder.file("main.rs"));
  ASSERT_EQ(built.status, 0) << built.output;
  AgentRun run, overflowing;
  expectSameOf(folder, run, {folder.file("program")});
  EXPECT_EQ(run.recorded->sampledTids.size(), 3u);
  EXPECT_TRUE(run.warnings.empty()) << run.warnings[0];
  overflowing.run(folder, {folder.file("program"), "overflow"});
  EXPECT_EQ(overflowing.status, 128 + SIGABRT);
  EXPECT_TRUE(contains(overflowing.output, "has overflowed its stack")) << overflowing.output;
}

/// Null pointers and full stacks are signals that it handles, and threads stop at safepoints by others.
TEST(AgentSignal, TheJavaVirtualMachineRuns) {
  NEED_TOOL("javac", "default-jdk-headless");
  const TemporaryFolder folder;
  writeFile(folder.file("Main.java"), R"(
public class Main {
  static volatile long sink;
  static int deep(int n) { return deep(n + 1) + 1; }
  static void work(int id) {
    int nulls = 0, overflows = 0;
    String nothing = sink < 0 ? "" : null;
    for (int i = 0; i < 2000; i++) {
      try { nulls += nothing.length(); } catch (NullPointerException e) { nulls++; }
      byte[][] garbage = new byte[50][];
      for (int k = 0; k < 50; k++) garbage[k] = new byte[1000];
      for (int k = 0; k < 20000; k++) sink++;
      if (i % 500 == 0) try { deep(0); } catch (StackOverflowError e) { overflows++; }
    }
    synchronized (Main.class) { System.out.println(nulls + " " + overflows); }
  }
  public static void main(String[] arguments) throws Exception {
    Thread[] threads = new Thread[3];
    for (int i = 0; i < 3; i++) { final int id = i; threads[i] = new Thread(() -> work(id)); threads[i].start(); }
    for (Thread thread : threads) thread.join();
    System.gc();
  }
})");
  const ShellResult built = shell("javac -d " + folder.path() + " " + folder.file("Main.java"));
  ASSERT_EQ(built.status, 0) << built.output;
  const ShellResult java = shell("readlink -f $(which java)");
  AgentRun run;
  expectSameOf(folder, run, {java.output.substr(0, java.output.find('\n')), "-cp", folder.path(), "Main"});
  EXPECT_EQ(run.status, 0);
  EXPECT_GE(run.recorded->sampledTids.size(), 3u);
  EXPECT_TRUE(run.warnings.empty()) << run.warnings[0];
}

/// Numbers of timers begin at 0 in each process, and this child's own timer is the first.
TEST(AgentSignal, ATimerThatWasNeverHadIsNotDeleted) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/resource.h>
static volatile int ticks;
static void on_timer(int s) { ticks++; }
int main() {
  burn(0.1);
  struct rlimit none, before;
  getrlimit(RLIMIT_SIGPENDING, &before);
  none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_SIGPENDING, &none);
  if (fork() == 0) {
    setrlimit(RLIMIT_SIGPENDING, &before);
    signal(SIGUSR1, on_timer);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    int timer = -1;
    printf("%ld", syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer));
    struct itimerspec times = {{0, 1000000}, {0, 1000000}};
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {1, all};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    printf(" %d %ld\n", timer, syscall(SYS_timer_settime, timer, 0, &times, 0));
    fflush(stdout);
    alarm(30); /* where the timer is gone */
    while (ticks < 3) sink++;
    puts("it ticks");
    exit(0);
  }
  wait(0);
})");
  EXPECT_TRUE(contains(run.output, "0 0 0\nit ticks")) << run.output;
  EXPECT_TRUE(anyContains(run.warnings, "a timer was refused"));
}

}  // namespace
}  // namespace cacheline::record::test
