// Recordings of what runs already: processes and threads.
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "record/machine.h"
#include "record/procfs.h"
#include "record/recorder.h"
#include "running.h"
#include "support.h"
#include "symbols/elf_image.h"

namespace cacheline::record::test {
namespace {

/// Records until there are so many samples.
RecordResult recordSamples(const RecordOptions& options, uint64_t samples) {
  std::atomic<bool> stop{false};
  return record(options, stop, [&](const RecordProgress& progress) { stop = progress.samples >= samples; });
}

TEST(Attach, APlainProcessIsRecordedAndGoesOn) {
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin);
  Running program({spin, "2", "600"});
  program.waitForThreads(3);
  const RecordOptions options = attachTo(folder, {program.pid()});
  std::optional<CpuTimes> times;
  std::atomic<bool> stop{false};
  const RecordResult result = record(options, stop, [&](const RecordProgress&) {
    if (!times) times.emplace(program.pid());  // sampling is on
    stop = times->least() > 0.2;
  });

  EXPECT_TRUE(program.alive());
  EXPECT_FALSE(result.exitStatus);
  EXPECT_FALSE(result.signal);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.lost, 0u);
  EXPECT_EQ(result.collector, "clock");
  EXPECT_GT(result.programCpuSeconds, 0.3);
  EXPECT_TRUE(result.warnings.empty()) << result.warnings[0];

  Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.samples, result.samples);
  EXPECT_EQ(recorded.withRegisters, result.samples);
  EXPECT_EQ(recorded.outOfOrder, 0u);
  EXPECT_EQ(recorded.pids, std::set<uint32_t>{static_cast<uint32_t>(program.pid())});
  EXPECT_GE(recorded.sampledTids.size(), 2u);
  EXPECT_EQ(recorded.samplesByComm["spin"], result.samples) << "every thread has its name";
  EXPECT_TRUE(recorded.mappedFiles.count(spin));
  EXPECT_TRUE(recorded.mappedFiles.count("[stack]"));
  EXPECT_GT(recorded.dataMmaps, 0u);
  bool buildId = false;
  for (const perfdata::BuildIdEntry& entry : recorded.reader->features().buildIds)
    buildId |= entry.path == spin;
  EXPECT_TRUE(buildId);
}

TEST(Attach, MetaJsonSaysWhat) {
  const TemporaryFolder folder;
  Running program({compile(folder, "spin", kSpin), "1", "600"});
  program.waitForThreads(2);
  RecordOptions options = attachTo(folder, {program.pid()});
  options.durationSeconds = 0.2;
  const RecordResult result = recordNow(options);
  EXPECT_TRUE(result.durationReached);
  rapidjson::Document meta;
  meta.Parse(readFile(options.outputDirectory + "/meta.json").c_str());
  ASSERT_TRUE(meta.IsObject());
  EXPECT_EQ(meta["command"].Size(), 0u);
  EXPECT_TRUE(meta["program"].IsNull());
  EXPECT_STREQ(meta["target"]["kind"].GetString(), "processes");
  EXPECT_EQ(meta["target"]["ids"][0].GetInt(), program.pid());
  EXPECT_EQ(meta["notTaken"].Size(), result.notTaken.size());
  EXPECT_TRUE(meta["interrupted"].GetBool());
}

TEST(Attach, ThreadsThatStartLaterAreRecordedOnce) {
  const TemporaryFolder folder;
  // A new thread every few milliseconds; each spins for 20 ms of CPU time.
  const std::string program = compile(folder, "pool", R"(
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static volatile long counters[8];
static double used(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
static void* work(void* argument) {
  while (used() < 0.02)
    for (int i = 0; i < 10000; i++) counters[(long)argument]++;
  return 0;
}
int main(void) {
  for (;;) {
    pthread_t ids[2];
    for (long i = 0; i < 2; i++) pthread_create(&ids[i], 0, work, (void*)i);
    for (long i = 0; i < 2; i++) pthread_join(ids[i], 0);
  }
})");
  Running running({program});
  running.waitForThreads(3);
  const RecordOptions options = attachTo(folder, {running.pid()});
  const RecordResult result = recordSamples(options, 400);
  EXPECT_TRUE(running.alive());
  Recorded recorded(options.outputDirectory);
  EXPECT_GE(recorded.sampledTids.size(), 10u);
  EXPECT_EQ(recorded.samplesByComm["pool"], result.samples);
  // One sample every 1/499 s of CPU time, and not one for each of two events.
  EXPECT_LT(static_cast<double>(result.samples), 1.4 * options.frequency * result.programCpuSeconds + 20);
}

/// Until it catches SIGUSR1.
void waitForHandler(const Running& program) {
  const std::string status = "/proc/" + std::to_string(program.pid()) + "/status";
  waitFor("handler of SIGUSR1", [&] { return contains(fieldOf(readFile(status), "SigCgt"), "2"); });
}

/// A kernel whose events nobody inherits: so it is for a thread that is in clone(2) when its own are opened.
Kernel withoutInheritance() {
  Kernel kernel = Kernel::real();
  kernel.perfEventOpen = [](const perf_event_attr& attr, pid_t pid, int cpu, int group, unsigned long flags) {
    perf_event_attr alone = attr;
    alone.inherit = 0;
    return Kernel::real().perfEventOpen(alone, pid, cpu, group, flags);
  };
  return kernel;
}

TEST(Attach, AThreadWhoseCloneBeganBeforeItsCreatorWasOpenIsRecorded) {
  const TemporaryFolder folder;
  Running running({compile(folder, "on_signal", R"(
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static volatile long counter;
static void* work(void* argument) {
  for (;;) counter++;
  return argument;
}
static void go(int number) {}
int main(void) {
  pthread_t id;
  signal(SIGUSR1, go);
  pause();
  pthread_create(&id, 0, work, 0);
  pthread_join(id, 0);
})",
                           "-O1 -g -pthread")});
  waitForHandler(running);
  RecordOptions options = attachTo(folder, {running.pid()});
  options.control =
      ControlFifo{folder.file("control"), "", false};  // then there are two events to tell apart
  ASSERT_EQ(::mkfifo(options.control->command.c_str(), 0600), 0);
  std::atomic<bool> stop{false};
  const RecordResult result = record(
      options, stop,
      [&](const RecordProgress& progress) {
        ::kill(running.pid(), SIGUSR1);
        stop = progress.samples >= 20 || progress.elapsedSeconds > 60;
      },
      withoutInheritance());
  EXPECT_GE(result.samples, 20u);
  Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.samples, result.samples);
  recorded.sampledTids.erase(static_cast<uint32_t>(running.pid()));  // it waits, but it began somehow
  EXPECT_EQ(recorded.sampledTids.size(), 1u);
}

TEST(Attach, AThreadAlone) {
  const TemporaryFolder folder;
  Running program({compile(folder, "spin", kSpin), "3", "600"});
  program.waitForThreads(4);
  const pid_t thread = threadsOf(program.pid()).back();
  const RecordOptions options = attachTo(folder, {thread}, Target::Kind::threads);
  recordSamples(options, 50);
  Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.sampledTids, std::set<uint32_t>{static_cast<uint32_t>(thread)});
  EXPECT_TRUE(recorded.mappedFiles.count(folder.file("spin")));
}

TEST(Attach, EndsWithItsTargets) {
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin);
  Running first({spin, "1", "600"}), second({spin, "1", "600"});
  first.waitForThreads(2);
  second.waitForThreads(2);
  const RecordOptions options = attachTo(folder, {first.pid(), second.pid()});
  std::optional<CpuTimes> ofFirst, ofSecond;
  const std::atomic<bool> stop{false};
  const RecordResult result = record(options, stop, [&](const RecordProgress&) {
    if (!ofFirst) {  // sampling is on
      ofFirst.emplace(first.pid());
      ofSecond.emplace(second.pid());
    }
    if (first.alive() && ofFirst->least() > 0.1)
      ::kill(first.pid(), SIGTERM);
    else if (!first.alive() && ofSecond->least() > 0.1)
      ::kill(second.pid(), SIGTERM);
  });
  EXPECT_FALSE(result.interrupted);
  EXPECT_GT(result.samples, 60u);
  EXPECT_EQ(first.wait(), 128 + SIGTERM);
  EXPECT_EQ(second.wait(), 128 + SIGTERM);
  EXPECT_EQ(Recorded(options.outputDirectory).pids.size(), 2u);
}

TEST(Attach, CountsCpuTimeUpToTheEnd) {
  const TemporaryFolder folder;
  Running program({compile(folder, "work", R"(
#include <signal.h>
#include <time.h>
#include <unistd.h>
static void go(int number) {}
int main(void) {
  signal(SIGUSR1, go);
  pause();
  while (clock() < 3 * CLOCKS_PER_SEC / 10) {}
})")});
  waitForHandler(program);
  std::atomic<bool> stop{false};
  // The test is its parent, and does not ask for it until later.
  const RecordResult result = record(attachTo(folder, {program.pid()}), stop,
                                     [&](const RecordProgress&) { ::kill(program.pid(), SIGUSR1); });
  EXPECT_GE(result.programCpuSeconds, 0.26) << "less what ticks of 10 ms leave out";
}

TEST(Attach, AThreadsEndEndsItsRecording) {
  const TemporaryFolder folder;
  Running program({compile(folder, "spin", kSpin), "1", "600"});
  program.waitForThreads(2);
  const std::atomic<bool> stop{false};
  const RecordResult result =
      record(attachTo(folder, {threadsOf(program.pid()).back()}, Target::Kind::threads), stop,
             [&](const RecordProgress& progress) {
               if (progress.samples > 20) ::kill(program.pid(), SIGTERM);
             });
  EXPECT_FALSE(result.interrupted);
}

const char* const kHeadless = R"(
#include <pthread.h>
static volatile long counter;
static void* work(void* argument) {
  for (;;) counter++;
  return argument;
}
int main(void) {
  pthread_t id;
  pthread_create(&id, 0, work, 0);
  pthread_exit(0);
})";

void waitForEndOfFirstThread(const Running& running) {
  const std::string state = "/proc/" + std::to_string(running.pid()) + "/status";
  waitFor("end of the first thread", [&] { return contains(readText(state).value_or(""), "State:\tZ"); });
}

TEST(Attach, AProcessGoesOnWithoutItsFirstThread) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "headless", kHeadless);
  Running running({program});
  waitForEndOfFirstThread(running);
  EXPECT_EQ(linkOf(running.pid(), "exe"), program);
  const RecordOptions options = attachTo(folder, {running.pid()});
  const RecordResult result = recordSamples(options, 50);
  EXPECT_TRUE(result.interrupted) << "it has not ended";
  Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.samplesByComm["headless"], result.samples);
  EXPECT_TRUE(recorded.mappedFiles.count(program));
}

TEST(Attach, FilesOfAContainerAreNotMistakenForOurs) {
  if (shell("unshare -m true").status != 0) GTEST_SKIP() << "needs root to make a mount namespace";
  for (const bool headless : {false, true}) {
    const TemporaryFolder folder;
    const std::string inside =
        compile(folder, "inside", headless ? kHeadless : kSpin, "-O1 -g -Wl,--build-id");
    const std::string outside = compile(folder, "spin", kSpin, "-O2 -g -Wl,--build-id");
    // In its own mount namespace the program's path is another file.
    Running program({"/usr/bin/unshare", "-m", "/bin/sh", "-c",
                     "mount --bind " + inside + " " + outside + " && exec " + outside + " 1 600"});
    if (headless)
      waitForEndOfFirstThread(program);
    else
      program.waitForThreads(2);
    const RecordOptions options = attachTo(folder, {program.pid()});
    recordSamples(options, 20);
    const Recorded recorded(options.outputDirectory);
    std::string buildId;
    for (const perfdata::BuildIdEntry& entry : recorded.reader->features().buildIds)
      if (entry.path == outside) buildId = entry.buildId;
    EXPECT_EQ(buildId, symbols::readBuildId(inside)) << "headless: " << headless;
  }
}

/// [GO]: once there is such a file, it forks; both processes have a thread that works.
const char* const kForks = R"(
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long counter;
static void* work(void* argument) {
  for (int i = 0; i < 100000000; i++) counter++;
  return argument;
}
int main(int argc, char** argv) {
  while (argc > 1 && access(argv[1], F_OK) != 0) usleep(1000);
  int child = fork();
  pthread_t id;
  pthread_create(&id, 0, work, 0);
  pthread_join(id, 0);
  if (child > 0) waitpid(child, 0, 0);
  return 0;
})";

TEST(Attach, ChildrenAreFollowedUnlessTheyAreNotToBe) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "forks", kForks);
  for (const bool children : {true, false}) {
    const std::string go = folder.file("go");
    Running running({program, go});
    RecordOptions options = attachTo(folder, {running.pid()});
    options.target.children = children;
    const std::atomic<bool> stop{false};
    record(options, stop, [&](const RecordProgress&) { writeFile(go, ""); });
    const Recorded recorded(options.outputDirectory);
    EXPECT_EQ(recorded.pids.size(), children ? 2u : 1u);
    EXPECT_GE(recorded.sampledTids.size(), 1u);
    EXPECT_FALSE(recorded.sampledTids == std::set<uint32_t>{static_cast<uint32_t>(running.pid())})
        << "its threads are followed in both cases";
    std::filesystem::remove_all(options.outputDirectory);
    std::filesystem::remove(go);
  }
}

TEST(Attach, ACommandWithoutItsChildren) {
  const TemporaryFolder folder;
  RecordOptions options = optionsFor(folder, {compile(folder, "forks", kForks)});
  options.target.children = false;
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.exitStatus, 0);
  const Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.pids.size(), 1u);
  EXPECT_GE(recorded.sampledTids.size(), 1u);
}

TEST(Attach, PerfSeesNamesSymbolsAndMappings) {
  if (!perfIsInstalled()) GTEST_SKIP() << "perf is not installed (Debian: apt-get install linux-perf)";
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin);
  Running program({spin, "2", "600"});
  program.waitForThreads(3);
  const RecordOptions options = attachTo(folder, {program.pid()});
  const RecordResult result = recordSamples(options, 100);
  const auto perf = [&](const std::string& command) {
    const ShellResult shown =
        shell("cd " + folder.path() + " && perf " + command + " -i out/perf.data < /dev/null");
    EXPECT_EQ(shown.status, 0) << shown.output;
    return shown.output;
  };
  const std::string report = perf("report --stdio --no-children -s comm,dso,sym");
  EXPECT_TRUE(contains(report, "work")) << report;
  EXPECT_FALSE(contains(report, "[unknown]")) << report;
  const std::string script = perf("script -F comm,tid,ip,sym -G");
  EXPECT_EQ(static_cast<uint64_t>(std::count(script.begin(), script.end(), '\n')), result.samples);
  EXPECT_FALSE(contains(script, ":" + std::to_string(program.pid()))) << "threads without a name";
  const std::string maps = perf("script --show-mmap-events -F comm,tid,ip");
  const std::string line = "PERF_RECORD_MMAP2 " + std::to_string(program.pid());
  EXPECT_TRUE(contains(maps, line)) << maps.substr(0, 2000);
  EXPECT_TRUE(contains(maps, "rw-p " + spin) || contains(maps, "r--p " + spin)) << "data mappings";
}

}  // namespace
}  // namespace cacheline::record::test
