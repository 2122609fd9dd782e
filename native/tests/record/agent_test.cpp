// The sampling agent in ordinary programs: samples, names, mappings, threads, processes.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>

#include "agent_run.h"

namespace cacheline::record::test {
namespace {

TEST(Agent, SamplesEveryThreadWithRegistersAndMappings) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "spin", kSpin);
  AgentRun run;
  run.run(folder, {program, "3", "0.5"});
  EXPECT_EQ(run.status, 0) << run.output;
  const Recorded& recorded = *run.recorded;
  EXPECT_GE(recorded.samples, 30u);
  EXPECT_EQ(recorded.withRegisters, recorded.samples);
  EXPECT_EQ(recorded.kernelSamples, 0u);
  EXPECT_EQ(recorded.outOfOrder, 0u);
  EXPECT_GE(recorded.sampledTids.size(), 3u) << "and maybe the one that starts them";
  EXPECT_EQ(recorded.pids.size(), 1u);
  EXPECT_EQ(recorded.lost, 0u);
  EXPECT_TRUE(recorded.mappedFiles.contains(program));
  EXPECT_TRUE(recorded.mappedFiles.contains("//anon"));
  EXPECT_EQ(recorded.execs, std::vector<std::string>{"spin"});
  EXPECT_TRUE(run.warnings.empty()) << run.warnings[0];
}

TEST(Agent, PerfReadsWhatItRecords) {
  if (!perfIsInstalled()) GTEST_SKIP() << "perf is not installed (Debian: apt-get install linux-perf)";
  const TemporaryFolder folder;
  const std::string program = compile(folder, "spin", kSpin);
  AgentRun run;
  run.run(folder, {program, "2", "0.3"});
  const auto perf = [&](const std::string& command) {
    return shell("cd " + folder.path() + " && perf script " + command + " -i out/perf.data < /dev/null");
  };
  const ShellResult samples = perf("-F comm,tid,ip,sym,iregs");
  ASSERT_EQ(samples.status, 0) << samples.output;
  EXPECT_TRUE(contains(samples.output, "work")) << samples.output.substr(0, 500);
  EXPECT_TRUE(contains(samples.output, "ABI:2")) << samples.output.substr(0, 500);
  EXPECT_EQ(static_cast<uint64_t>(std::count(samples.output.begin(), samples.output.end(), '\n')),
            run.recorded->samples);
  const ShellResult tasks = perf("--show-task-events --show-mmap-events");
  EXPECT_TRUE(contains(tasks.output, "PERF_RECORD_COMM exec: spin")) << tasks.output.substr(0, 2000);
  EXPECT_TRUE(contains(tasks.output, "PERF_RECORD_FORK")) << tasks.output.substr(0, 2000);
  EXPECT_TRUE(contains(tasks.output, "r-xp " + program)) << tasks.output.substr(0, 2000);
}

TEST(Agent, NamesOfThreadsAreTheirs) {
  const TemporaryFolder folder;
  AgentRun run;
  const std::string program = compile(folder, "named", std::string("#define _GNU_SOURCE\n") + R"(
#include <pthread.h>
#include <time.h>
static volatile long sink;
static void* work(void* name) {
  struct timespec used;
  pthread_setname_np(pthread_self(), name);
  do {
    for (int i = 0; i < 100000; i++) sink++;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  } while (used.tv_sec == 0 && used.tv_nsec < 400000000);
  return 0;
}
int main() {
  pthread_t ids[2];
  pthread_create(&ids[0], 0, work, "reader");
  pthread_create(&ids[1], 0, work, "writer");
  for (int i = 0; i < 2; i++) pthread_join(ids[i], 0);
}
)");
  run.run(folder, {program});
  EXPECT_GT(run.recorded->samplesByComm["reader"], 5u);
  EXPECT_GT(run.recorded->samplesByComm["writer"], 5u);
}

TEST(Agent, ARecordingCanBeginAndEndLater) {
  const TemporaryFolder folder;
  RecordOptions options = optionsFor(folder, {compile(folder, "spin", kSpin), "2", "30"});
  options.collector = CollectorChoice::agent;
  options.agentLibrary = CACHELINE_SAMPLER;
  options.control = ControlFifo{folder.file("control"), "", true};
  ASSERT_EQ(::mkfifo(options.control->command.c_str(), 0600), 0);
  const std::atomic<bool> stop{false};
  std::atomic<uint64_t> samples{0};
  RecordResult result;
  std::thread recorder([&] {
    result = record(options, stop, [&](const RecordProgress& progress) { samples = progress.samples; });
  });
  FILE* control = std::fopen(options.control->command.c_str(), "w");
  ASSERT_NE(control, nullptr);
  std::fputs("enable\n", control);
  std::fflush(control);
  waitFor("fiftieth sample", [&] { return samples >= 50; });
  std::fputs("stop\n", control);
  std::fclose(control);
  recorder.join();
  EXPECT_EQ(result.collector, "agent");
  EXPECT_TRUE(result.interrupted);
  EXPECT_GE(result.samples, 50u);
  EXPECT_FALSE(exists(folder.file("out/agent"))) << "the shared memory is gone";
}

}  // namespace
}  // namespace cacheline::record::test
