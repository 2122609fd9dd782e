// Real watchpoints on real programs, judged by programs that say how often they touch a word.
#include <gtest/gtest.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "record/procfs.h"
#include "record/watch_events.h"
#include "record/watch_schedule.h"
#include "record/watch_threads.h"
#include "watch_run.h"

namespace cacheline::record::test {
namespace {

/// N WRITES: waits, then N threads (started after that) write that often to a word of their own.
const char* const kLate = R"(
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
volatile long words[8] __attribute__((aligned(64)));
static long writes;
static void* body(void* at) {
  for (long i = 1; i <= writes; i++) { *(volatile long*)at = i; usleep(500); }
  return 0;
}
int main(int argc, char** argv) {
  pthread_t threads[8];
  int n = atoi(argv[1]);
  writes = atol(argv[2]);
  getchar();
  for (int i = 0; i < n; i++) pthread_create(&threads[i], 0, body, (void*)&words[i]);
  for (int i = 0; i < n; i++) pthread_join(threads[i], 0);
  return argc == 0;
})";

/// N: threads that start all the time, until there are N; after a byte of input each writes twice to a word.
const char* const kStarting = R"(
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
volatile long words[8] __attribute__((aligned(64)));
static atomic_int released;
static void* body(void* at) {
  while (!released) usleep(1000);
  for (long i = 0; i < 2; i++) *(volatile long*)at = i;
  return 0;
}
int main(int argc, char** argv) {
  pthread_t threads[1000];
  int n = atoi(argv[1]);
  for (int i = 0; i < n; i++) { pthread_create(&threads[i], 0, body, (void*)&words[0]); usleep(50); }
  getchar();
  released = 1;
  for (int i = 0; i < n; i++) pthread_join(threads[i], 0);
  return argc == 0;
})";

/// Two threads that write to words of one line until they are killed.
const char* const kBusy = R"(
#include <pthread.h>
volatile long words[8] __attribute__((aligned(64)));
static void* body(void* at) { for (;;) ++*(volatile long*)at; return 0; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, body, (void*)&words[1]);
  body((void*)&words[0]);
})";

WatchOptions watching(std::vector<WatchWord> words, double budget) {
  WatchOptions options;
  options.budget = budget;
  options.words = [words](const std::string&, const std::vector<pid_t>&) { return words; };
  return options;
}

Watcher::Processes only(pid_t pid) {
  return [pid] { return withDescendants({pid}); };
}

std::string outFolder(const TemporaryFolder& folder) {
  return folder.path();
}

TEST(WatchRun, EveryWriteOfThreadsThatStartLaterIsSeenOnce) {
  const TemporaryFolder folder;
  WatchedProgram program(compile(folder, "late", kLate, "-O1 -g -pthread"), {"2", "100"});
  const uint64_t words = program.addressOf("words");
  Watcher watcher(
      watching({{program.pid(), words, 8, "words[0]"}, {program.pid(), words + 8, 8, "words[1]"}}, 1),
      only(program.pid()), outFolder(folder));
  drive(watcher, [&] { return exists(folder.file("watch.data")); });
  program.go();
  drive(watcher, [&] { return program.ended(); });
  watcher.finish();

  EXPECT_TRUE(watcher.warnings().empty()) << watcher.warnings()[0];
  EXPECT_EQ(watcher.counts().hits, 200u);
  EXPECT_EQ(watcher.counts().words, 2u);
  Hits hits(outFolder(folder));
  EXPECT_TRUE(hits.warnings.empty());
  EXPECT_EQ(hits.total, 200u);
  EXPECT_EQ(hits.withRegisters, 200u);
  EXPECT_EQ(hits.outOfOrder, 0u);
  ASSERT_EQ(hits.byAddress.size(), 2u);
  for (const uint64_t address : {words, words + 8}) {
    ASSERT_EQ(hits.byAddress[address].size(), 1u);
    EXPECT_EQ(hits.byAddress[address].begin()->second, 100u);
  }
  EXPECT_NE(hits.byAddress[words].begin()->first, hits.byAddress[words + 8].begin()->first);

  uint64_t told = 0;
  std::map<uint64_t, uint64_t> ended;
  for (const WindowLine& line : windowLines(outFolder(folder))) {
    told += line.hits;
    EXPECT_EQ(line.lost, 0u);
    EXPECT_LE(line.watchedNs, line.end - line.start);
    if (ended.contains(line.address)) {
      EXPECT_EQ(line.start, ended[line.address]) << "a gap";
    }
    ended[line.address] = line.end;
  }
  EXPECT_EQ(told, 200u);
}

TEST(WatchRun, NoThreadOfARunningProgramIsMissedOrCountedTwice) {
  const TemporaryFolder folder;
  WatchedProgram program(compile(folder, "starting", kStarting, "-O1 -g -pthread"), {"100"});
  const uint64_t words = program.addressOf("words");
  Watcher watcher(watching({{program.pid(), words, 8, "words[0]"}}, 1), only(program.pid()),
                  outFolder(folder));
  drive(watcher, [&] { return exists(folder.file("watch.data")) && threadsOf(program.pid()).size() == 101; });
  int rounds = 0;
  drive(watcher, [&] { return ++rounds > 2; });  // those that were listed last are opened
  program.go();
  drive(watcher, [&] { return program.ended(); });
  watcher.finish();
  // 200 hits fit into one ring, even twice, so that none is lost however late they are fetched.
  EXPECT_TRUE(watcher.warnings().empty()) << watcher.warnings()[0];
  const Hits hits(outFolder(folder));
  EXPECT_EQ(hits.total, 200u);
  EXPECT_EQ(hits.byAddress.at(words).size(), 100u);
  for (const auto& [tid, count] : hits.byAddress.at(words)) EXPECT_EQ(count, 2u) << tid;
}

TEST(WatchRun, HitsThatFoundNoRoomAreCountedWithoutARecordBehindThem) {
  const TemporaryFolder folder;
  WatchedProgram program(compile(folder, "late", kLate, "-O1 -g -pthread"), {"1", "2000"});
  WatchEvents events(Kernel::real());
  if (events.attr().read_format == 0) GTEST_SKIP() << "needs Linux 6.0";
  ASSERT_EQ(events.arm({{program.pid(), program.addressOf("words"), 8, "words[0]"}}).words.size(), 1u);
  program.go();
  waitFor("end of the program", [&] { return program.ended(); });
  events.disarm();
  const WatchEvents::Drained drained = events.drain();
  EXPECT_GT(drained.lost, 0u);
  EXPECT_EQ(drained.hits.size() + drained.lost, 2000u);
  EXPECT_EQ(events.drain().lost, 0u) << "told once";
}

TEST(WatchRun, AThreadWhoseCloneBeganBeforeItsCreatorWasWatchedIsSeen) {
  const TemporaryFolder folder;
  WatchedProgram program(compile(folder, "late", kLate, "-O1 -g -pthread"), {"1", "1000000"});
  const uint64_t words = program.addressOf("words");
  // Nobody inherits: as it is for who is in clone(2) when the creator's events are opened.
  Kernel kernel = Kernel::real();
  kernel.perfEventOpen = [](const perf_event_attr& attr, pid_t pid, int cpu, int group, unsigned long flags) {
    perf_event_attr alone = attr;
    alone.inherit = alone.inherit_thread = 0;
    return Kernel::real().perfEventOpen(alone, pid, cpu, group, flags);
  };
  Watcher watcher(watching({{program.pid(), words, 8, "words[0]"}}, 1), only(program.pid()),
                  outFolder(folder), kernel);
  const auto start = Watcher::Clock::now();
  drive(watcher, [&] { return exists(folder.file("watch.data")); });
  program.go();
  drive(watcher, [&] { return threadsOf(program.pid()).size() == 2; });
  // It looks for such threads between windows, and for a second only.
  const size_t windows = windowLines(outFolder(folder)).size();
  drive(watcher, [&] { return windowLines(outFolder(folder)).size() > windows; });
  if (Watcher::Clock::now() - start > std::chrono::seconds(1))
    GTEST_SKIP() << "needs a machine that is less busy";
  drive(watcher, [&] { return watcher.counts().hits > 0; });
  watcher.finish();
}

TEST(WatchRun, WindowsOfABusyProgramAreCutByTheirHits) {
  const TemporaryFolder folder;
  WatchedProgram program(compile(folder, "busy", kBusy, "-O1 -g -pthread"));
  const uint64_t words = program.addressOf("words");
  std::vector<WatchWord> many;
  for (uint64_t i = 0; i < 6; ++i)
    many.push_back({program.pid(), words + 8 * i, 8, "words[" + std::to_string(i) + "]"});
  Watcher watcher(watching(many, 0.1), only(program.pid()), outFolder(folder));
  bool cut = false;
  std::map<uint64_t, uint64_t> hits;  // of all words that had a window
  const auto look = [&] {
    hits.clear();
    for (const WindowLine& line : windowLines(outFolder(folder))) {
      cut |= line.cut == "hits";
      hits[line.address] += line.hits;
    }
  };
  // Which of its threads runs in a window is up to the scheduler. Four words at a time, all in turn.
  drive(watcher, [&] {
    look();
    return cut && hits[words] > 0 && hits[words + 8] > 0 && hits.size() == 6;
  });
  watcher.finish();
  look();
  EXPECT_EQ(hits[words + 16], 0u) << "nobody touches it";
  EXPECT_FALSE(program.ended());
}

TEST(WatchRun, ProgramGoesOnUnwatchedAfterwards) {
  const TemporaryFolder folder;
  WatchedProgram program(compile(folder, "late", kLate, "-O1 -g -pthread"), {"1", "10"});
  const WatchWord word{program.pid(), program.addressOf("words"), 8, "words"};
  {
    Watcher watcher(watching({word}, 1), only(program.pid()), outFolder(folder));
    drive(watcher, [&] { return exists(folder.file("watch.data")); });
    watcher.finish();
    EXPECT_EQ(watcher.counts().hits, 0u);
  }
  program.go();
  waitFor("end of the program", [&] { return program.ended(); });
  EXPECT_EQ(Hits(outFolder(folder)).total, 0u);
}

TEST(WatchRun, AChildsCopyOfTheWordIsAnotherWord) {
  const TemporaryFolder folder;
  WatchedProgram program(compile(folder, "forks", R"(
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
volatile long word;
int main(void) {
  getchar();
  word = 1;
  if (fork() == 0) { word = 2; word = 3; _exit(0); }
  wait(0);
  word = 4;
})"));
  const uint64_t word = program.addressOf("word");
  Watcher watcher(watching({{program.pid(), word, 8, "word"}}, 1), only(program.pid()), outFolder(folder));
  drive(watcher, [&] { return exists(folder.file("watch.data")); });
  program.go();
  drive(watcher, [&] { return program.ended(); });
  watcher.finish();
  const Hits hits(outFolder(folder));
  EXPECT_EQ(hits.total, 2u);
  EXPECT_EQ(hits.pids, std::set<uint32_t>{static_cast<uint32_t>(program.pid())});
}

TEST(WatchRun, RegistersThatADebuggerHoldsAreSaid) {
  const TemporaryFolder folder;
  WatchedProgram program(compile(folder, "late", kLate, "-O1 -g -pthread"), {"1", "20"});
  const uint64_t words = program.addressOf("words");
  std::vector<UniqueFd> held;
  for (uint64_t i = 4; i < 6; ++i) {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_BREAKPOINT;
    attr.bp_type = HW_BREAKPOINT_RW;
    attr.bp_addr = words + 8 * i;
    attr.bp_len = 8;
    attr.exclude_kernel = 1;
    held.emplace_back(Kernel::real().perfEventOpen(attr, program.pid(), -1, -1, PERF_FLAG_FD_CLOEXEC));
    ASSERT_TRUE(held.back());
  }
  std::vector<WatchWord> four;
  for (uint64_t i = 0; i < 4; ++i) four.push_back({program.pid(), words + 8 * i, 8, "word"});
  Watcher watcher(watching(four, 1), only(program.pid()), outFolder(folder));
  drive(watcher, [&] { return watcher.counts().words == 4; });
  EXPECT_TRUE(anyContains(watcher.warnings(), "only 2 of 4 debug registers were free in process " +
                                                  std::to_string(program.pid())));
  watcher.finish();
}

TEST(WatchRun, WordsThatAreNotMappedAreSaidAndAreAnErrorWhereOneIsRequired) {
  const TemporaryFolder folder;
  WatchedProgram program(compile(folder, "late", kLate, "-O1 -g -pthread"), {"1", "1"});
  WatchOptions options = watching({{program.pid(), 0x10, 8, "nowhere"}}, 1);
  options.required = true;
  Watcher watcher(options, only(program.pid()), outFolder(folder));
  watcher.tick();  // before the program can end
  program.go();
  drive(watcher, [&] { return program.ended(); });
  try {
    watcher.finish();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_TRUE(contains(error.what(), "nowhere is not mapped in process " + std::to_string(program.pid())))
        << error.what();
  }
  EXPECT_FALSE(exists(folder.file("watch.data")));
}

TEST(WatchRun, WordsAreAskedForAtOnceWhereTheyMayHaveComeIntoBeing) {
  const TemporaryFolder folder;
  Watcher watcher(watching({}, 1), only(::getpid()), outFolder(folder));
  const auto isFarAway = [&] {
    return watcher.next() > Watcher::Clock::now() + std::chrono::milliseconds(400);
  };
  drive(watcher, isFarAway);
  watcher.askSoon();
  EXPECT_FALSE(isFarAway());
}

TEST(WatchRun, ARefusingKernelIsAnErrorOrAWarning) {
  const TemporaryFolder folder;
  Kernel kernel = Kernel::real();
  kernel.perfEventOpen = [](const perf_event_attr&, pid_t, int, int, unsigned long) {
    errno = EACCES;
    return -1;
  };
  WatchOptions options = watching({}, 0.1);
  Watcher lenient(options, only(::getpid()), outFolder(folder), kernel);
  lenient.tick();
  EXPECT_EQ(lenient.next(), Watcher::Clock::time_point::max());
  lenient.finish();
  EXPECT_TRUE(anyContains(lenient.warnings(), "nothing was confirmed by watchpoints"));
  options.required = true;
  EXPECT_THROW(Watcher(options, only(::getpid()), outFolder(folder), kernel), Error);
}

TEST(WatchRun, AKilledRecorderLeavesEveryWindow) {
  const TemporaryFolder folder;
  WatchedProgram program(compile(folder, "busy", kBusy, "-O1 -g -pthread"));
  const WatchWord word{program.pid(), program.addressOf("words"), 8, "words[0]"};
  const pid_t recorder = ::fork();
  if (recorder == 0) {
    ::alarm(100);
    Watcher watcher(watching({word}, 0.1), only(program.pid()), outFolder(folder));
    drive(watcher, [] { return false; });
  }
  uint64_t told = 0;
  // On a busy machine the program may not run in the first windows.
  waitFor("third window, and a hit", [&] {
    const std::vector<WindowLine> lines = windowLines(outFolder(folder));
    told = 0;
    for (const WindowLine& line : lines) told += line.hits;
    return lines.size() >= 3 && told > 0;
  });
  ::kill(recorder, SIGKILL);
  ::waitpid(recorder, nullptr, 0);
  EXPECT_GE(Hits(outFolder(folder)).total, told);
  EXPECT_FALSE(program.ended());
}

TEST(WatchRun, AFullDiskEndsTheWatchingOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a tiny tmpfs";
  const TemporaryFolder folder, small;
  if (::mount("tmpfs", small.path().c_str(), "tmpfs", 0, "size=32k") != 0)
    GTEST_SKIP() << "cannot mount a tmpfs here";
  WatchedProgram program(compile(folder, "busy", kBusy, "-O1 -g -pthread"));
  const WatchWord word{program.pid(), program.addressOf("words"), 8, "words[0]"};
  Watcher watcher(watching({word}, 0.5), only(program.pid()), small.path());
  drive(watcher, [&] { return !watcher.warnings().empty(); });
  watcher.finish();
  // On a busy machine there may be more of them: hits that came faster than they were fetched.
  EXPECT_TRUE(contains(watcher.warnings()[0], "watching ended early: ")) << watcher.warnings()[0];
  EXPECT_TRUE(contains(watcher.warnings()[0], "No space left on device")) << watcher.warnings()[0];
  EXPECT_GT(Hits(small.path()).total, 0u);
  EXPECT_FALSE(program.ended());
  ::umount2(small.path().c_str(), MNT_DETACH);
}

TEST(WatchRun, PerfReadsTheHits) {
  if (!perfIsInstalled()) GTEST_SKIP() << "install perf (linux-perf) to judge watch.data";
  const TemporaryFolder folder;
  WatchedProgram program(compile(folder, "late", kLate, "-O1 -g -pthread"), {"1", "7"});
  const uint64_t words = program.addressOf("words");
  Watcher watcher(watching({{program.pid(), words, 8, "words"}}, 1), only(program.pid()), outFolder(folder));
  drive(watcher, [&] { return exists(folder.file("watch.data")); });
  program.go();
  drive(watcher, [&] { return program.ended(); });
  watcher.finish();
  const ShellResult script =
      shell("perf script -F tid,time,cpu,event,addr,ip -i " + folder.file("watch.data") + " 2>&1");
  EXPECT_EQ(script.status, 0) << script.output;
  char address[32];
  std::snprintf(address, sizeof address, "%llx", static_cast<unsigned long long>(words));
  size_t seen = 0;
  for (size_t at = script.output.find(address); at != std::string::npos;
       at = script.output.find(address, at + 1))
    ++seen;
  EXPECT_EQ(seen, 7u) << script.output;
}

TEST(WatchThreads, ThousandsAreListedWithoutComparingEachWithEach) {
  std::vector<pid_t> listed, known, added;
  for (pid_t tid = 1; tid <= 20'000; ++tid) {
    listed.push_back(tid);
    (tid % 3 == 0 ? added : known).push_back(tid);
  }
  known.push_back(30'000);  // it has ended
  size_t comparisons = 0;
  EXPECT_EQ(newThreads(listed, known, [&](pid_t a, pid_t b) { return ++comparisons, a < b; }), added);
  EXPECT_LT(comparisons, 2 * (listed.size() + known.size()));
  EXPECT_TRUE(newThreads(listed, listed).empty());
  EXPECT_EQ(newThreads({1, 2, 2, 3}, {1}), (std::vector<pid_t>{2, 3}));
}

TEST(WatchRotation, TakesTurnsAndKeepsALineTogether) {
  WatchRotation rotation;
  EXPECT_TRUE(rotation.next(4).empty());
  std::vector<WatchWord> words;
  for (const uint64_t address : {0x1000, 0x1008, 0x1010, 0x2000, 0x2008, 0x3000})
    words.push_back({7, address, 8, {}});
  words.push_back({8, 0x9000, 4, {}});
  words.push_back(words.front());
  EXPECT_TRUE(rotation.set(words)) << "named twice, watched once";
  words.erase(words.end() - 1);
  EXPECT_FALSE(rotation.set(words));
  const auto addresses = [&](size_t slots) {
    std::vector<uint64_t> list;
    for (const WatchWord& word : rotation.next(slots)) list.push_back(word.address);
    return list;
  };
  EXPECT_EQ(addresses(4), (std::vector<uint64_t>{0x1000, 0x1008, 0x1010, 0x9000}));
  EXPECT_EQ(addresses(4), (std::vector<uint64_t>{0x2000, 0x2008, 0x3000, 0x9000}));
  rotation.set(words);
  EXPECT_EQ(addresses(4), (std::vector<uint64_t>{0x1000, 0x1008, 0x1010, 0x9000}));
  words.pop_back();
  rotation.set(words);
  EXPECT_EQ(addresses(2), (std::vector<uint64_t>{0x1000, 0x1008}));
  EXPECT_EQ(addresses(2), (std::vector<uint64_t>{0x1010}));
  EXPECT_TRUE(addresses(0).empty());
}

TEST(WatchBudget, PausesPayForWhatWindowsCost) {
  using namespace std::chrono_literals;
  WatchBudget budget(0.1, 20us);
  EXPECT_EQ(budget.length(), 5ms);
  EXPECT_EQ(budget.mostHits(), 125u);
  // 100 hits of 20 us: 2 ms of every 22 ms.
  EXPECT_EQ(budget.interval(5ms, 100, 0ns, true), 22ms);
  EXPECT_EQ(budget.length(), 5ms);
  // Hits on several CPUs at once cannot cost more than the window was long.
  EXPECT_EQ(budget.interval(1ms, 100, 1ms, true), 22ms);
  // A window without hits costs its opening alone; the next one is longer.
  EXPECT_EQ(budget.interval(5ms, 0, 100us, false), 5ms);
  EXPECT_EQ(budget.length(), 10ms);
  budget.throttled();
  EXPECT_EQ(budget.interval(5ms, 100, 0ns, true), 42ms);
  WatchBudget all(1, 20us);
  EXPECT_TRUE(all.unlimited());
  EXPECT_EQ(all.interval(5ms, 1000, 1ms, false), 5ms);
}

}  // namespace
}  // namespace cacheline::record::test
