// Real recordings of real programs.
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "record/clock_plan.h"
#include "record/machine.h"
#include "record/recorder.h"
#include "support.h"
#include "symbols/elf_image.h"

namespace cacheline::record::test {
namespace {

TEST(Recording, TwoSpinningThreads) {
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin);
  const RecordOptions options = optionsFor(folder, {spin, "2", "1"});
  const RecordResult result = recordNow(options);

  EXPECT_EQ(result.exitStatus, 0);
  EXPECT_FALSE(result.signal);
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(result.lost, 0u);
  EXPECT_EQ(result.collector, "clock");
  EXPECT_GE(result.seconds, 0.9);
  // One sample every 1/499 s of CPU time.
  const double expected = result.programCpuSeconds * options.frequency;
  EXPECT_GT(static_cast<double>(result.samples), 0.7 * expected);
  EXPECT_LT(static_cast<double>(result.samples), 1.3 * expected);
  EXPECT_TRUE(result.warnings.empty()) << result.warnings[0];

  const Recorded recorded(options.outputDirectory);
  EXPECT_TRUE(recorded.reader->warnings().empty());
  EXPECT_EQ(recorded.samples, result.samples);
  EXPECT_EQ(recorded.withRegisters, result.samples);
  EXPECT_EQ(recorded.withCallchain, 0u);
  EXPECT_EQ(recorded.outOfOrder, 0u);
  EXPECT_EQ(recorded.pids.size(), 1u);
  EXPECT_GE(recorded.sampledTids.size(), 2u);
  EXPECT_EQ(recorded.forks, 2u);
  EXPECT_GE(recorded.exits, 2u);
  EXPECT_EQ(recorded.execs, std::vector<std::string>{"spin"});
  EXPECT_TRUE(recorded.mappedFiles.count(spin));
  EXPECT_GT(recorded.dataMmaps, 0u);
  ASSERT_EQ(recorded.reader->events().size(), 1u);
  const perfdata::Event& event = recorded.reader->events()[0];
  EXPECT_EQ(event.ids.size(), onlineCpus().size());
  EXPECT_EQ(event.attr.config, uint64_t{PERF_COUNT_SW_CPU_CLOCK});
  EXPECT_EQ(event.name, event.attr.exclude_kernel ? "cpu-clock:u" : "cpu-clock");
}

TEST(Recording, FeaturesDescribeTheMachineAndTheBinaries) {
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin, "-O1 -g -Wl,--build-id");
  const RecordOptions options = optionsFor(folder, {spin, "1", "0.1"});
  recordNow(options);
  const perfdata::Features read = Recorded(options.outputDirectory).reader->features();
  const perfdata::Features machine = describeMachine();
  EXPECT_EQ(read.hostname, machine.hostname);
  EXPECT_EQ(read.osRelease, machine.osRelease);
  EXPECT_EQ(read.arch, "x86_64");
  EXPECT_EQ(read.cpusOnline, machine.cpusOnline);
  EXPECT_EQ(read.cpusAvailable, machine.cpusAvailable);
  EXPECT_EQ(read.cpuDesc, machine.cpuDesc);
  EXPECT_EQ(read.cpuId, machine.cpuId);
  EXPECT_EQ(read.totalMemKb, machine.totalMemKb);
  EXPECT_EQ(read.coreSiblings, machine.coreSiblings);
  EXPECT_EQ(read.threadSiblings, machine.threadSiblings);
  EXPECT_EQ(read.cpuPlaces.size(), machine.cpuPlaces.size());
  EXPECT_EQ(read.numaNodes.size(), machine.numaNodes.size());
  EXPECT_EQ(read.pmuMappings, machine.pmuMappings);
  ASSERT_GE(read.cmdline.size(), 3u);
  EXPECT_EQ(read.cmdline[read.cmdline.size() - 3], spin);
  ASSERT_TRUE(read.sampleTime);
  EXPECT_LT(read.sampleTime->first, read.sampleTime->second);
  std::string buildId;
  for (const perfdata::BuildIdEntry& entry : read.buildIds)
    if (entry.path == spin) buildId = entry.buildId;
  EXPECT_EQ(buildId.size(), 40u);
  EXPECT_EQ(buildId, symbols::readBuildId(spin));
}

TEST(Recording, MetaJsonHasItsShape) {
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin);
  RecordOptions options = optionsFor(folder, {"./spin", "1", "0.1"});
  options.workingDirectory = folder.path();
  options.frequency = 997;
  const RecordResult result = recordNow(options);
  rapidjson::Document meta;
  meta.Parse(readFile(options.outputDirectory + "/meta.json").c_str());
  ASSERT_TRUE(meta.IsObject());
  EXPECT_STREQ(meta["schema"].GetString(), "cacheline-recording/1");
  EXPECT_GT(meta["version"].GetStringLength(), 0u);
  ASSERT_EQ(meta["command"].Size(), 3u);
  EXPECT_STREQ(meta["command"][0].GetString(), "./spin");
  EXPECT_EQ(meta["workingDirectory"].GetString(), folder.path());
  EXPECT_STREQ(meta["collector"].GetString(), "clock");
  EXPECT_EQ(meta["collectorReason"].GetString(), result.collectorReason);
  EXPECT_EQ(meta["frequency"].GetUint(), 997u);
  EXPECT_EQ(meta["durationSeconds"].GetDouble(), result.seconds);
  EXPECT_EQ(meta["program"]["exitStatus"].GetInt(), 0);
  EXPECT_TRUE(meta["program"]["signal"].IsNull());
  EXPECT_GT(meta["program"]["cpuSeconds"].GetDouble(), 0.05);
  EXPECT_EQ(meta["samples"].GetUint64(), result.samples);
  EXPECT_EQ(meta["lost"].GetUint64(), 0u);
  EXPECT_FALSE(meta["interrupted"].GetBool());
  EXPECT_TRUE(meta["warnings"].IsArray());
  EXPECT_GT(meta["machine"]["cpus"].GetUint(), 0u);
  EXPECT_EQ(meta["machine"]["lineSize"].GetUint(), cacheLineSize());
  bool found = false;
  for (const auto& binary : meta["binaries"].GetArray()) {
    if (binary["path"].GetString() != spin) continue;
    found = true;
    struct stat info{};
    ASSERT_EQ(::stat(spin.c_str(), &info), 0);
    EXPECT_EQ(binary["size"].GetUint64(), static_cast<uint64_t>(info.st_size));
    EXPECT_EQ(binary["mtimeNs"].GetString(),
              std::to_string(info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec));
  }
  EXPECT_TRUE(found);
}

TEST(Recording, SixtyFourThreadsLoseNothing) {
  const TemporaryFolder folder;
  const RecordOptions options = optionsFor(folder, {compile(folder, "spin", kSpin), "64", "0.05"});
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.lost, 0u);
  const Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.lost, 0u);
  EXPECT_EQ(recorded.forks, 64u);
  EXPECT_EQ(recorded.samples, result.samples);
  EXPECT_GE(recorded.sampledTids.size(), 60u);
  EXPECT_EQ(recorded.outOfOrder, 0u);
}

TEST(Recording, CallchainsByOption) {
  const TemporaryFolder folder;
  RecordOptions options =
      optionsFor(folder, {compile(folder, "spin", kSpin, "-O1 -g -fno-omit-frame-pointer"), "1", "0.2"});
  options.callGraph = CallGraph::framePointers;
  const RecordResult result = recordNow(options);
  EXPECT_GT(Recorded(options.outputDirectory).withCallchain, result.samples / 2);
}

TEST(Recording, ExitStatusPassesThrough) {
  const TemporaryFolder folder;
  const RecordResult result =
      recordNow(optionsFor(folder, {compile(folder, "seven", "int main(void) { return 7; }")}));
  EXPECT_EQ(result.exitStatus, 7);
  EXPECT_FALSE(result.signal);
}

TEST(Recording, DeathBySignalIsReported) {
  const TemporaryFolder folder;
  const RecordResult result = recordNow(optionsFor(
      folder,
      {compile(folder, "dies", "#include <signal.h>\nint main(void) { raise(SIGSEGV); return 0; }")}));
  EXPECT_FALSE(result.exitStatus);
  EXPECT_EQ(result.signal, SIGSEGV);
}

TEST(Recording, ShortProgramIsKeptAndSaidToBeShort) {
  const TemporaryFolder folder;
  const RecordOptions options = optionsFor(folder, {compile(folder, "spin", kSpin), "1", "0.01"});
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.exitStatus, 0);
  EXPECT_LT(result.samples, 20u);
  EXPECT_TRUE(anyContains(result.warnings, "too few to judge"));
  EXPECT_EQ(Recorded(options.outputDirectory).samples, result.samples);
}

TEST(Recording, FollowsAnExecChain) {
  const TemporaryFolder folder;
  compile(folder, "last", kSpin);
  compile(
      folder, "first",
      "#include <unistd.h>\nint main(void) { execl(\"./last\", \"last\", \"1\", \"0.3\", 0); return 9; }");
  RecordOptions options = optionsFor(folder, {"./first"});
  options.workingDirectory = folder.path();
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.exitStatus, 0);
  Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.execs, (std::vector<std::string>{"first", "last"}));
  EXPECT_GT(recorded.samplesByComm["last"], 50u);
  EXPECT_TRUE(recorded.mappedFiles.count(folder.file("first")));
  EXPECT_TRUE(recorded.mappedFiles.count(folder.file("last")));
}

TEST(Recording, FollowsForkedChildren) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "forks", R"(
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile long counter;
int main(void) {
  for (int i = 0; i < 3; i++)
    if (fork() == 0) {
      clock_t end = clock() + CLOCKS_PER_SEC / 5;
      while (clock() < end)
        for (int j = 0; j < 100000; j++) counter++;
      _exit(0);
    }
  while (wait(0) > 0) {}
  return 0;
})");
  const RecordOptions options = optionsFor(folder, {program});
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.exitStatus, 0);
  EXPECT_GT(result.programCpuSeconds, 0.5);
  const Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.forks, 3u);
  EXPECT_GE(recorded.pids.size(), 3u);
}

TEST(Recording, ABackgroundChildDoesNotHoldItUp) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "leaves", R"(
#include <stdio.h>
#include <unistd.h>
int main(void) {
  int child = fork();
  if (child == 0) { sleep(300); _exit(0); }
  FILE* file = fopen("pid", "w");
  fprintf(file, "%d", child);
  fclose(file);
  return 3;
})");
  RecordOptions options = optionsFor(folder, {program});
  options.workingDirectory = folder.path();
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.exitStatus, 3);
  const int child = std::atoi(readFile(folder.file("pid")).c_str());
  ASSERT_GT(child, 1);
  EXPECT_EQ(::kill(child, 0), 0) << "it must still run";
  ::kill(child, SIGKILL);
}

TEST(Recording, StopEndsTheProgramAndKeepsTheRecording) {
  const TemporaryFolder folder;
  const RecordOptions options = optionsFor(folder, {compile(folder, "spin", kSpin), "2", "60"});
  std::atomic<bool> stop{false};
  int calls = 0;
  const RecordResult result = record(options, stop, [&](const RecordProgress& progress) {
    calls++;
    if (progress.samples > 100) stop = true;
  });
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.durationReached);
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_LT(result.programCpuSeconds, 60);
  EXPECT_GE(calls, 1);
  EXPECT_GT(result.samples, 100u);
  EXPECT_EQ(Recorded(options.outputDirectory).samples, result.samples);
  EXPECT_TRUE(contains(readFile(options.outputDirectory + "/meta.json"), "\"interrupted\": true"));
}

TEST(Recording, DurationEndsTheProgram) {
  const TemporaryFolder folder;
  RecordOptions options = optionsFor(folder, {compile(folder, "spin", kSpin), "1", "60"});
  options.durationSeconds = 0.35;
  const RecordResult result = recordNow(options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_TRUE(result.durationReached);
  EXPECT_GE(result.seconds, 0.35);
  EXPECT_LT(result.programCpuSeconds, 60);
  EXPECT_EQ(result.signal, SIGTERM);
}

TEST(Recording, AProgramThatIgnoresSigtermIsKilled) {
  const TemporaryFolder folder;
  const std::string stubborn = compile(folder, "stubborn", R"(
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
int main(int argc, char** argv) {
  signal(SIGTERM, SIG_IGN);
  creat(argv[1], 0644);
  for (;;) pause();
})");
  const std::string ready = folder.file("ready");
  std::atomic<bool> stop{false};
  const auto start = std::chrono::steady_clock::now();
  const RecordResult result = record(optionsFor(folder, {stubborn, ready}), stop,
                                     [&](const RecordProgress&) { stop = exists(ready); });
  EXPECT_EQ(result.signal, SIGKILL);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took.count(), result.seconds + 5) << "the wait for its end is not recorded";
}

TEST(Recording, StreamsEnvironmentAndSignalsOfTheProgram) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "tells", R"(
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  sigset_t mask;
  struct sigaction action;
  sigprocmask(0, 0, &mask);
  sigaction(SIGPIPE, 0, &action);
  printf("%s %s %d %d %d\n", getenv("CACHELINE_ONE"), getenv("HOME"), sigismember(&mask, SIGUSR1),
         action.sa_handler == SIG_DFL, getchar() == EOF);
  fprintf(stderr, "to stderr\n");
  return 0;
})");
  RecordOptions options = optionsFor(folder, {program});
  options.environment = {"CACHELINE_ONE=1", "HOME=/elsewhere"};
  FILE* output = std::fopen(folder.file("stdout").c_str(), "we");
  FILE* error = std::fopen(folder.file("stderr").c_str(), "we");
  options.stdoutFd = ::fileno(output);
  options.stderrFd = ::fileno(error);
  options.stdinFromNull = true;
  // The caller's own dispositions, as Node has them.
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const RecordResult result = recordNow(options);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  std::fclose(output);
  std::fclose(error);
  EXPECT_EQ(result.exitStatus, 0);
  EXPECT_EQ(readFile(folder.file("stdout")), "1 /elsewhere 0 1 1\n");
  EXPECT_EQ(readFile(folder.file("stderr")), "to stderr\n");
}

TEST(Recording, NoDescriptorOfOursReachesTheProgram) {
  const TemporaryFolder folder;
  const std::string output = folder.file("list");
  const RecordOptions options = optionsFor(folder, {"/bin/sh", "-c", "ls -l /proc/self/fd > " + output});
  recordNow(options);
  const std::string list = readFile(output);
  EXPECT_TRUE(contains(list, "0 ->")) << list;
  EXPECT_FALSE(contains(list, "perf_event")) << list;
  EXPECT_FALSE(contains(list, "perf.data")) << list;
}

TEST(Recording, RatesThatAreTooHighAreLoweredAndSaid) {
  const TemporaryFolder folder;
  RecordOptions options = optionsFor(folder, {compile(folder, "spin", kSpin), "1", "0.05"});
  options.frequency = 500'000'000;
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.exitStatus, 0);
  EXPECT_TRUE(anyContains(result.warnings, "asked for 500000000 samples a second"));
  EXPECT_LE(Recorded(options.outputDirectory).reader->events()[0].attr.sample_freq, kMostFrequency);
}

TEST(Recording, WarnsOfProgramsItSaysLittleAbout) {
  const TemporaryFolder folder;
  const auto warningsOf = [&](const std::string& name, const std::string& flags) {
    const TemporaryFolder own;
    return recordNow(optionsFor(own, {compile(folder, name, kSpin, flags), "1", "0.2"})).warnings;
  };
  EXPECT_TRUE(anyContains(warningsOf("plain", "-O1"), "no debug information"));
  EXPECT_TRUE(anyContains(warningsOf("stripped", "-O1 -s"), "/stripped' is stripped"));
  EXPECT_TRUE(anyContains(warningsOf("static", "-O1 -g -static"), "statically linked"));
  EXPECT_TRUE(warningsOf("good", "-O1 -g").empty());
}

TEST(Recording, SaysWhyTheClock) {
  const TemporaryFolder folder;
  const RecordResult result = recordNow(optionsFor(folder, {"/bin/true"}));
  EXPECT_TRUE(contains(result.collectorReason, "clock samples")) << result.collectorReason;
  ASSERT_FALSE(result.notTaken.empty());
  EXPECT_EQ(result.notTaken[0].collector, "pmu");
  EXPECT_TRUE(contains(result.notTaken[0].reason, "memory PMU")) << result.notTaken[0].reason;
}

}  // namespace
}  // namespace cacheline::record::test
