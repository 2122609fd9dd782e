// The agent in programs that fork, execute, crash, are killed, close what they did not open, or allocate in
// their own way: their output and their end stay their own, and what was recorded reads.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "agent_run.h"

namespace cacheline::heap::test {
namespace {

/// Lines of "pid address time": that process has a block there at that time, or has none.
void expectThere(const AgentRun& run, const std::vector<uint64_t>& line, bool there) {
  const Block* block = run.heap->find(static_cast<uint32_t>(line.at(0)), line.at(1), line.at(2));
  EXPECT_EQ(block != nullptr && block->address == line[1], there) << run.output;
}

TEST(AgentAdversity, AForkedChildKeepsTheBlocksAndHasItsOwn) {
  AgentRun run;
  run.run(run.compile(program(R"(
int main() {
  char* both = malloc(100);
  char* freed = malloc(200);
  say(getpid(), ADDRESS(both), now());
  if (fork() == 0) {
    say(getpid(), ADDRESS(both), now());   // inherited
    free(freed);
    say(getpid(), ADDRESS(freed), now());  // gone in the child
    char* own = malloc(50000);
    say(getpid(), ADDRESS(own), now());
    if (fork() == 0) {                     // a grandchild that never allocates
      say(getpid(), ADDRESS(own), now());
      _exit(0);
    }
    wait(0);
    _exit(0);
  }
  wait(0);
  say(getpid(), ADDRESS(freed), now());    // still there in the parent
  return 7;
})")));
  EXPECT_EQ(run.status, 7);
  ASSERT_EQ(run.lines.size(), 6u) << run.output;
  for (size_t i = 0; i < run.lines.size(); i++) expectThere(run, run.lines[i], i != 2);
}

TEST(AgentAdversity, AForkThatGoesPastLibcIsNoticed) {
  AgentRun run;
  run.run(run.compile(program(R"(
#include <sys/syscall.h>
int main() {
  char* both = malloc(100);
  if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
    char* own = malloc(300);
    say(syscall(SYS_getpid), ADDRESS(own), now());
    say(syscall(SYS_getpid), ADDRESS(both), now());
    _exit(0);
  }
  wait(0);
  char* mine = malloc(300);
  say(getpid(), ADDRESS(mine), now());
})")));
  ASSERT_EQ(run.lines.size(), 3u) << run.output;
  for (const auto& line : run.lines) expectThere(run, line, true);
}

TEST(AgentAdversity, ExecStartsAnew) {
  AgentRun run;
  const std::string path = run.compile(program(R"(
int main(int argc, char** argv) {
  char* p = malloc(argc == 1 ? 100 : 3000);
  say(getpid(), ADDRESS(p), now());
  if (argc == 1) execl("/proc/self/exe", "again", "x", (char*)0);
  say(getpid(), strtoul(argv[0], 0, 0), now());
})"));
  run.run(path);
  ASSERT_EQ(run.status, 0);
  EXPECT_EQ(run.counts.processes, 2u);
  expectThere(run, run.lines.at(0), true);
  expectThere(run, run.lines.at(1), true);
  const auto pid = static_cast<uint32_t>(run.lines[1][0]);
  EXPECT_EQ(run.heap->find(pid, run.lines[1][1], run.lines[1][2])->size, 3000u);
  EXPECT_EQ(run.heap->find(pid, run.lines[0][1], run.lines[0][2])->size, 100u);
}

TEST(AgentAdversity, ACrashKeepsItsSignalAndTheBlocksUntilThen) {
  AgentRun run;
  run.run(run.compile(program(R"(
int main() {
  char* p = malloc(100);
  say(getpid(), ADDRESS(p), now());
  *(volatile int*)0 = 1;
})")));
  EXPECT_EQ(run.status, 128 + SIGSEGV);
  expectThere(run, run.lines.at(0), true);
}

TEST(AgentAdversity, KilledWhileAllThreadsAllocate) {
  AgentRun run;
  run.run(run.compile(program(R"(
static void* work(void* unused) {
  for (;;) {
    void* volatile p = malloc(100);
    free(p);
  }
}
int main() {
  char* p = malloc(5000);
  say(getpid(), ADDRESS(p), now());
  pthread_t id;
  for (int i = 0; i < 8; i++) pthread_create(&id, 0, work, 0);
  usleep(200000);
  kill(getpid(), SIGKILL);
})"),
                      "-O0"));
  EXPECT_EQ(run.status, 128 + SIGKILL);
  expectThere(run, run.lines.at(0), true);
  EXPECT_GT(run.counts.blocks, 1000u);
}

TEST(AgentAdversity, AProgramThatClosesAllDescriptorsWritesOnlyItsOwnFiles) {
  AgentRun run;
  const std::string other = run.file("other");
  run.run(run.compile(program(R"(
#include <fcntl.h>
int main(int argc, char** argv) {
  for (int fd = 3; fd < 256; fd++) close(fd);
  for (int i = 0; i < 50; i++) open(argv[1], O_RDWR | O_CREAT, 0600);
  for (int i = 0; i < 10000; i++) malloc(64);
  char* p = malloc(100);
  say(getpid(), ADDRESS(p), now());
})"),
                      "-O0") +
          " " + other);
  ASSERT_EQ(run.status, 0);
  expectThere(run, run.lines.at(0), true);
  struct stat info {};
  ASSERT_EQ(::stat(other.c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 0);
}

TEST(AgentAdversity, ThreadsThatEndGiveTheirChunksToTheNext) {
  AgentRun run;
  run.run(run.compile(program(R"(
static pthread_key_t key;
static void* volatile sink;
static void at_end(void* p) { free(p), sink = malloc(100); }
static void* work(void* unused) {
  pthread_setspecific(key, malloc(200));
  return malloc(300);
}
int main() {
  pthread_key_create(&key, at_end);
  void* last = 0;
  for (int i = 0; i < 2000; i++) {
    pthread_t id;
    pthread_create(&id, 0, work, 0);
    pthread_join(id, &last);
  }
  say(getpid(), ADDRESS(last), now());
})")));
  ASSERT_EQ(run.status, 0) << run.output;
  expectThere(run, run.lines.at(0), true);
  EXPECT_GE(run.counts.blocks, 6000u);
  struct stat info {};
  ASSERT_EQ(::stat(run.file("allocations").c_str(), &info), 0);
  EXPECT_LT(info.st_size, 8 << 20) << "2000 threads with 16 KiB each would take 32 MiB";
}

TEST(AgentAdversity, AProgramWithAMallocOfItsOwnRunsAsItIs) {
  AgentRun run;
  run.run(run.compile(program(R"(
static char area[1 << 20];
static size_t used;
void* malloc(size_t size) {
  void* p = area + used;
  used += (size + 31) & ~15ul;
  return p;
}
void free(void* p) {}
void* calloc(size_t n, size_t size) { return malloc(n * size); }
void* realloc(void* p, size_t size) {
  void* q = malloc(size);
  if (p) memcpy(q, p, size);
  return q;
}
int main() {
  char* p = malloc(100);
  say((char*)p >= area && (char*)p < area + sizeof area, 0, 0);
  return 3;
})"),
                      "-O0 -fno-builtin"));
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.lines.at(0).at(0), 1u);
  EXPECT_EQ(run.counts.processes, 1u);
  EXPECT_EQ(run.counts.blocks, 0u);
}

/// Runs a program whose blocks come from a library's `malloc`, which nothing gives back.
void runWithAllocator(AgentRun& run, const std::string& allocator, const std::string& main) {
  run.compile(R"(
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
// Sizes lie behind the blocks' addresses nowhere: nothing can be read before a block.
static _Alignas(4096) char area[64 << 20];
static size_t used;
static void* take(size_t size) { return area + __atomic_fetch_add(&used, (size + 15) & ~15ul, 5); }
)" + allocator +
                  R"(
void free(void* p) {}
void* calloc(size_t n, size_t size) { return malloc(n * size); }
void* realloc(void* p, size_t size) {
  void* q = malloc(size);
  if (p) memcpy(q, p, size);
  return q;
}
)",
              "-O1 -shared -fPIC -fno-builtin", false, "liballoc.so");
  run.run(run.compile(program(main), "-O0 -fno-builtin -Wl,--no-as-needed " + run.file("liballoc.so") +
                                         " -Wl,-rpath," + run.file("")));
}

TEST(AgentAdversity, AnAllocatorInALibraryIsRecordedAsLibcsIs) {
  AgentRun run;
  runWithAllocator(run, "void* malloc(size_t size) { return take(size); }", R"(
int main() {
  char* p = malloc(100);
  char* small = malloc(8);
  say(getpid(), ADDRESS(p), now());
  say(getpid(), ADDRESS(small), now());
  free(p);
  say(getpid(), ADDRESS(p), now());
  return malloc(100) == p;  // libc would give the same one again
})");
  ASSERT_EQ(run.status, 0) << run.output;
  expectThere(run, run.lines.at(0), true);
  expectThere(run, run.lines.at(1), true);
  expectThere(run, run.lines.at(2), false);
}

TEST(AgentAdversity, BlocksAQuarterOfAGigabyteApartAreNotMixedUp) {
  AgentRun run;
  runWithAllocator(run, R"(
// Blocks of 100 bytes lie so far apart that the agent has one count for all of them.
static size_t far;
static char* places;
void* malloc(size_t size) {
  if (size != 100) return take(size);
  if (!places)
    places = (char*)syscall(SYS_mmap, 0, 300ul << 28, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return places + (far++ << 28);
}
)",
                   R"(
int main() {
  static char* blocks[300];
  for (int i = 0; i < 300; i++) blocks[i] = malloc(100);
  unsigned long before = now();
  for (int i = 0; i < 300; i++) free(blocks[i]);
  unsigned long after = now();
  for (int i = 0; i < 100; i++) say(getpid(), ADDRESS(blocks[i]), before), say(getpid(), ADDRESS(blocks[i]), after);
})");
  ASSERT_EQ(run.status, 0) << run.output;
  ASSERT_EQ(run.lines.size(), 200u);
  for (size_t i = 0; i < run.lines.size(); i++) expectThere(run, run.lines[i], i % 2 == 0);
  EXPECT_GE(run.counts.lost, 100u) << "more than a count holds are lost, and said to be";
}

TEST(AgentAdversity, TheSchedulerIsNotAskedForTheExactTime) {
  AgentRun run;
  run.limits.rate = 1000;
  run.limits.burst = 500;
  // Whoever asks for the clock of a thread's CPU time is killed: it makes threads that share a CPU take turns
  // more often.
  run.run(run.compile(program(R"(
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
int main() {
  struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLOCK_THREAD_CPUTIME_ID, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 2;
  void* volatile p;
  for (int i = 0; i < 200000; i++) { p = malloc(100); free(p); }
})"),
                      "-O0"));
  ASSERT_EQ(run.status, 0);
  EXPECT_GE(run.counts.blocks, 500u);
  EXPECT_GT(run.counts.lost, 100'000u);
}

TEST(AgentAdversity, AFilterThatRefusesTheTimeLeavesErrnoAlone) {
  AgentRun run;
  run.limits.rate = 1000;
  run.limits.burst = 500;
  run.run(run.compile(program(R"(
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
int main() {
  struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 2;
  long changed = 0;
  for (int i = 0; i < 10000; i++) {
    errno = 7;
    void* volatile p = malloc(100);
    changed += errno != 7;
    free(p);
  }
  say(changed, 0, 0);
})"),
                      "-O0"));
  ASSERT_EQ(run.status, 0);
  EXPECT_EQ(run.lines.at(0).at(0), 0u);
  EXPECT_GT(run.counts.lost, 1000u) << "the time was asked for";
}

TEST(AgentAdversity, WithLittleAddressSpaceTheProgramStillRuns) {
  AgentRun run;
  run.run("sh -c 'ulimit -v 60000; exec " + run.compile(program(R"(
int main() {
  char* p = malloc(100);
  say(getpid(), ADDRESS(p), now());
  return 5;
})")) + "'");
  EXPECT_EQ(run.status, 5) << run.output;
  expectThere(run, run.lines.at(0), true);
}

TEST(AgentAdversity, OnAFullDiskTheProgramRunsToItsEnd) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a small file system";
  AgentRun run;
  const std::string path = run.compile(program(R"(
int main() {
  for (int i = 0; i < 50000; i++) malloc(100);
  say(1, 2, 3);
  return 9;
})"),
                                       "-O0");
  const std::string disk = run.file("disk");
  ::mkdir(disk.c_str(), 0700);
  run.runAlone("mount -t tmpfs -o size=256k none " + disk);
  if (run.status != 0) GTEST_SKIP() << "cannot mount: " << run.output;
  {
    const auto recording = RecordingFile::create(disk, run.limits);
    std::string command = "env";
    for (const std::string& entry : recording->preload(CACHELINE_HEAP_AGENT, {})) command += " " + entry;
    run.runAlone(command + " " + path);
    EXPECT_EQ(run.status, 9) << run.output;
    EXPECT_EQ(run.lines.size(), 1u);
    const RecordingCounts counts = recording->counts();
    EXPECT_GT(counts.blocks, 100u);
    EXPECT_GT(counts.lost, 10'000u);
    EXPECT_NE(Allocations::open(disk), nullptr);
  }
  run.runAlone("umount " + disk);
}

TEST(AgentAdversity, AnAgentWhosePathCannotBePreloadedIsLinked) {
  AgentRun run;
  const std::string folder = run.file("a b:c");
  ::mkdir(folder.c_str(), 0700);
  const std::string agent = folder + "/libcacheline_heap.so";
  ASSERT_EQ(::symlink(CACHELINE_HEAP_AGENT, agent.c_str()), 0);
  const std::string copy = folder + "/libcopy.so";
  run.runAlone("cp " CACHELINE_HEAP_AGENT " '" + copy + "'");
  const auto recording = RecordingFile::create(folder, run.limits);
  const std::vector<std::string> changes = recording->preload(copy, {"LD_PRELOAD=/other.so"});
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].find_first_of(" "), std::string::npos);
  EXPECT_NE(changes[0].find("libcacheline_agent.so:/other.so"), std::string::npos) << "the other one is kept";
  EXPECT_EQ(changes[1], "CACHELINE_HEAP=" + folder + "/allocations");
}

}  // namespace
}  // namespace cacheline::heap::test
