// Programs that make it hard for the sampling agent: they must behave as they do without it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "perfdata/writer.h"
#include "record/child_process.h"
#include "tests/record/agent_run.h"

namespace cacheline::record::test {
namespace {

TEST(AgentAdversity, MasksAndHandlersAreAnsweredAsIfItWereNotThere) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
static int handled[65];
static void on(int s) { handled[s]++; }
static void show(const char* what, const sigset_t* set) {
  printf("%s:", what);
  for (int s = 1; s <= 64; s++) if (sigismember(set, s) == 1) printf(" %d", s);
  puts("");
}
int main() {
  sigset_t all, now;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, 0, &now);
  show("at first", &now);
  sigprocmask(SIG_SETMASK, &all, 0);
  burn(0.1);
  pthread_sigmask(SIG_BLOCK, 0, &now);
  show("all", &now);
  sigset_t high;
  sigemptyset(&high);
  for (int s = SIGRTMIN; s <= SIGRTMAX; s++) sigaddset(&high, s);
  sigprocmask(SIG_UNBLOCK, &high, &now);
  sigprocmask(SIG_SETMASK, 0, &now);
  show("low", &now);
  for (int s = SIGRTMIN; s <= SIGRTMAX; s++) {
    struct sigaction action = {.sa_handler = on, .sa_mask = all}, before;
    sigaction(s, &action, &before);
    if (before.sa_handler != SIG_DFL) printf("%d had a handler\n", s);
    sigaction(s, 0, &before);
    if (before.sa_handler != on || sigismember(&before.sa_mask, SIGRTMAX - 2) != 1) printf("%d has another\n", s);
  }
  struct sigaction action = {.sa_handler = on, .sa_mask = all}, before;
  sigaction(SIGUSR1, &action, 0);
  sigaction(SIGUSR1, 0, &before);
  show("in SIGUSR1", &before.sa_mask);
  burn(0.1);
  for (int s = SIGRTMIN; s <= SIGRTMAX; s++) raise(s);
  for (int s = SIGRTMIN; s <= SIGRTMAX; s++) if (handled[s] != 1) printf("%d came %d times\n", s, handled[s]);
  sigprocmask(SIG_SETMASK, &all, 0);
  const int fd = signalfd(-1, &all, SFD_NONBLOCK);
  burn(0.05);
  struct signalfd_siginfo info;
  printf("signalfd: %ld\n", (long)read(fd, &info, sizeof info));
  signal(SIGRTMAX - 2, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &high, 0);
  fflush(stdout);
  raise(SIGRTMAX - 2);
  puts("it lives");
})");
  EXPECT_EQ(run.status, 128 + SIGRTMAX - 2);
}

TEST(AgentAdversity, ProfilersOfTheProgramKeepTheirTimers) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
static volatile int ticks, others;
static void on_prof(int s) { ticks++; }
static void on_timer(int s, siginfo_t* i, void* c) { others += i->si_value.sival_int == 42; }
int main() {
  signal(SIGPROF, on_prof);
  struct itimerval each = {{0, 10000}, {0, 10000}};
  setitimer(ITIMER_PROF, &each, 0);
  struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO};
  sigaction(SIGRTMAX - 2, &action, 0);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX - 2, .sigev_value.sival_int = 42};
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  struct itimerspec times = {{0, 10000000}, {0, 10000000}};
  timer_settime(timer, 0, &times, 0);
  /* A busy machine gives few ticks in a time. */
  for (int i = 0; i < 30 && (ticks < 10 || others < 10); i++) burn(0.3);
  printf("%d %d\n", ticks >= 10, others >= 10);
})");
}

TEST(AgentAdversity, ForkedSpawnedAndExecutedProgramsAreSampled) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
int main(int argc, char** argv) {
  const int depth = argc > 1 ? atoi(argv[1]) : 0;
  char next[8];
  sprintf(next, "%d", depth + 1);
  char* arguments[] = {argv[0], next, 0};
  burn(0.1);
  int status = 0;
  pid_t child;
  if (depth == 0) {
    if ((child = fork()) == 0) { burn(0.1); exit(7); }
    waitpid(child, &status, 0);
    printf("forked: %d\n", WEXITSTATUS(status));
    fflush(stdout);
    execve("/proc/self/exe", arguments, environ);
  }
  if (depth == 1) {
    if ((child = vfork()) == 0) { execve("/proc/self/exe", arguments, environ); _exit(1); }
    waitpid(child, &status, 0);
    printf("vforked: %d\n", WEXITSTATUS(status));
    arguments[1] = "3";
    posix_spawn(&child, "/proc/self/exe", 0, 0, arguments, environ);
    waitpid(child, &status, 0);
    printf("spawned: %d\n", WEXITSTATUS(status));
  }
  return depth;
})");
  EXPECT_EQ(run.recorded->pids.size(), 4u) << "the program, its fork, its vfork and its spawn";
  EXPECT_EQ(run.recorded->execs.size(), 4u) << "started, executed again, two children";
  EXPECT_EQ(run.recorded->forks, 3u);
  EXPECT_TRUE(run.warnings.empty()) << run.warnings[0];
}

TEST(AgentAdversity, ShortThreadsAreSampledByTheTimeTheyTake) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
static void* brief(void* unused) { burn(0.0004); return 0; }
int main() {
  for (int i = 0; i < 1000; i++) {
    pthread_t ids[2];
    for (int k = 0; k < 2; k++) pthread_create(&ids[k], 0, brief, 0);
    for (int k = 0; k < 2; k++) pthread_join(ids[k], 0);
  }
  puts("2000 threads");
})");
  EXPECT_GT(run.recorded->sampledTids.size(), 20u) << "none of them lives as long as the timer's interval";
  EXPECT_EQ(run.recorded->lost, 0u);
  EXPECT_TRUE(run.warnings.empty()) << run.warnings[0];
}

TEST(AgentAdversity, SandboxesOfTheProgramKillNobody) {
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
static void turn(long n) { for (long i = 0; i < n; i++) sink++; }
int main() {
  for (int kind = 0; kind < 3; kind++) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      burn(0.05);
      struct sock_filter only[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
      struct sock_fprog filter = {5, only};
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      if (kind == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
      if (kind == 1) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
      if (kind == 2) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
      turn(200000000);
      write(1, "alive\n", 6);
      syscall(SYS_exit, 3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d: status %x\n", kind, status);
  }
})");
  EXPECT_TRUE(contains(run.output, "alive")) << run.output;
  EXPECT_TRUE(anyContains(run.warnings, "3 processes restricted the system calls"));
}

TEST(AgentAdversity, LibrariesThatComeAndGoAreKnownWhereSampled) {
  const TemporaryFolder folder;
  for (const char* name : {"one", "two"})
    compile(folder, std::string("lib") + name + ".so",
            "static volatile long sink; static __attribute__((constructor)) void begin(void) "
            "{ for (long i = 0; i < 100000000; i++) sink++; }",
            "-O1 -g -shared -fPIC");
  AgentRun run;
  expectSame(folder, run, R"(
int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    void* library = dlopen(argv[i], RTLD_NOW);
    puts(library ? "loaded" : dlerror());
    dlclose(library);
  }
})",
             {folder.file("libone.so"), folder.file("libtwo.so")});
  EXPECT_TRUE(run.recorded->mappedFiles.contains(folder.file("libone.so")));
  EXPECT_TRUE(run.recorded->mappedFiles.contains(folder.file("libtwo.so")));
}

/// A recorder in a process of its own, killed while the program runs.
TEST(AgentAdversity, AKilledRecorderLeavesTheProgramAndAReadableFile) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "program", std::string(kAgentProgramHead) + R"(
#include <sys/stat.h>
int main(int argc, char** argv) {
  struct stat info;
  do burn(0.05); while (stat(argv[4], &info) != 0 || info.st_size < 16384);
  FILE* file = fopen(argv[1], "w");
  fclose(file);
  while (access(argv[2], F_OK) != 0) usleep(1000);
  burn(0.3);
  file = fopen(argv[3], "w");
  fclose(file);
})",
                                      "-O1 -g -w");
  const std::string half = folder.file("half"), go = folder.file("go"), done = folder.file("done");
  const pid_t recorder = ::fork();
  if (recorder == 0) {
    AgentRun run;
    run.run(folder, {program, half, go, done, folder.file("out/perf.data")});
    ::_exit(0);
  }
  waitFor("half of the program's work", [&] { return exists(half); });
  ::kill(recorder, SIGKILL);
  ::waitpid(recorder, nullptr, 0);
  writeFile(go, "");
  waitFor("other half of it", [&] { return exists(done); });
  EXPECT_GT(Recorded(folder.file("out")).samples, 20u);
}

TEST(AgentAdversity, ChainsOfExecsAreNotKilledByASignalOfTheirPast) {
  const TemporaryFolder folder;
  AgentRun run;
  run.frequency = 5000;
  expectSame(folder, run, R"(
static void* work(void* unused) { for (;;) sink++; }
int main(int argc, char** argv) {
  const int left = atoi(argv[1]);
  pthread_t id;
  for (int i = 0; i < 2; i++) pthread_create(&id, 0, work, 0);
  for (int i = 0; i < 200000; i++) sink++;
  if (left == 0) { puts("end"); return 5; }
  char next[8];
  sprintf(next, "%d", left - 1);
  char* arguments[] = {argv[0], next, 0};
  execve("/proc/self/exe", arguments, environ);
})",
             {"100"});
  if (run.recorded->lost == 0) {  // else the recorder came too late to empty the rings, and says so
    EXPECT_EQ(run.recorded->execs.size(), 101u);
  }
}

TEST(AgentAdversity, ProcessesOfOtherNamespacesKeepTheirRings) {
  if (::geteuid() != 0) GTEST_SKIP() << "unshare needs root";
  const TemporaryFolder folder;
  AgentRun run;
  expectSame(folder, run, R"(
int main() {
  if (unshare(CLONE_NEWPID) != 0) return 1;
  if (fork() == 0) { burn(1.3); printf("process %d\n", getpid()); return 0; }
  wait(0);
})");
  EXPECT_TRUE(run.recorded->pids.contains(1));
  EXPECT_GT(run.recorded->samples, 20u) << "it runs on after the recorder has looked for the dead";
}

TEST(AgentAdversity, ProgramsThatWriteIntoItsMemoryHarmNobody) {
  const TemporaryFolder folder;
  AgentRun run;
  run.run(folder, {compile(folder, "program", std::string(kAgentProgramHead) + R"(
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
int main() {
  burn(0.1);
  const int fd = open(getenv("CACHELINE_SAMPLER"), O_RDWR);
  struct stat info;
  fstat(fd, &info);
  unsigned char* bytes = mmap(0, info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) return 1;
  srand(7);
  for (int round = 0; round < 20; round++) {
    /* The slots and the rings; the header's counts in the last round. */
    for (long i = 4096; i < info.st_size; i++) bytes[i] = rand() >> 7;
    for (long i = 0; round == 19 && i < 100; i++) bytes[48 + i] = rand() >> 7;
    usleep(10000);
  }
  _exit(0);
})",
                           "-O1 -g -w")});
  EXPECT_EQ(run.status, 0);
  EXPECT_FALSE(run.warnings.empty());
}

TEST(AgentAdversity, AProgramThatCutsItsMemoryShortEndsItsSamplesAndNotTheRecorder) {
  const TemporaryFolder folder;
  AgentRun run;
  // What it has not drained by then is gone: so the program waits until the recorder wrote some samples.
  run.run(folder, {compile(folder, "program", std::string(kAgentProgramHead) + R"(
#include <sys/stat.h>
int main(int argc, char** argv) {
  struct stat info;
  do burn(0.05); while (stat(argv[1], &info) != 0 || info.st_size < 16384);
  if (truncate(getenv("CACHELINE_SAMPLER"), 0) != 0) return 1;
  usleep(100000);
  raise(SIGKILL);
})",
                           "-O1 -g -w"),
                   folder.file("out/perf.data")});
  // A sample that is due just then meets the missing memory.
  EXPECT_TRUE(run.status == 128 + SIGKILL || run.status == 128 + SIGBUS) << run.status;
  EXPECT_GT(run.recorded->samples, 10u);
  EXPECT_TRUE(anyContains(run.warnings, "cut the agent's memory short"));
}

TEST(AgentAdversity, AFullDiskLosesSamplesOnly) {
  const TemporaryFolder folder;
  const std::string out = folder.file("out");
  std::filesystem::create_directories(out);
  if (::mount("tmpfs", out.c_str(), "tmpfs", 0, "size=640k") != 0) GTEST_SKIP() << "mount needs root";
  const std::string program = compile(folder, "spin", kSpin);
  AgentRun run;
  run.run(folder, {program, "16", "0.05"});
  ::umount2(out.c_str(), MNT_DETACH);
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_GT(run.recorded->samples, 0u);
  EXPECT_TRUE(anyContains(run.warnings, "the disk is full"));
}

TEST(AgentAdversity, WhatKeepsItOutIsNamed) {
  const TemporaryFolder folder;
  const Target command;
  Target attached;
  attached.kind = Target::Kind::processes;
  EXPECT_FALSE(whyNoAgent(command, CACHELINE_SAMPLER));
  EXPECT_EQ(whyNoAgent(attached, CACHELINE_SAMPLER)->what, "attaching");
  EXPECT_EQ(whyNoAgent(command, folder.file("nothing.so"))->what, "sampling agent");
  const auto program = [&](const std::string& path) { return findProgram(path, "", {}); };
  const std::string fixed = compile(folder, "static", "int main() { return 0; }", "-static");
  EXPECT_EQ(whyNoAgent(command, CACHELINE_SAMPLER, &static_cast<const Program&>(program(fixed)))->what,
            "static linking");
  const std::string changing = compile(folder, "changing", "int main() { return 0; }");
  const Program plain = program(changing);
  EXPECT_FALSE(whyNoAgent(command, CACHELINE_SAMPLER, &plain));
  if (::chown(changing.c_str(), 65534, 65534) != 0 || ::chmod(changing.c_str(), 04755) != 0)
    GTEST_SKIP() << "chown needs root";
  EXPECT_EQ(whyNoAgent(command, CACHELINE_SAMPLER, &plain)->what, "set-user-ID");
}

}  // namespace
}  // namespace cacheline::record::test
