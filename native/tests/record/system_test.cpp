// Recordings of the whole machine, of some CPUs, and those that are driven through a control FIFO.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/unique_fd.h"
#include "record/capability.h"
#include "record/machine.h"
#include "record/recorder.h"
#include "running.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

bool mayRecordTheMachine() {
  const Permissions permissions = readPermissions();
  return permissions.privileged() || permissions.perfEventParanoid.value_or(2) <= 0;
}

TEST(System, EverythingWhileACommandRuns) {
  if (!mayRecordTheMachine()) GTEST_SKIP() << "needs root or kernel.perf_event_paranoid=0";
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin), before = compile(folder, "before", kSpin);
  Running other({before, "1", "600"});
  other.waitForThreads(2);
  // The command goes on until the other one has had its time, too.
  const std::string go = folder.file("go");
  RecordOptions options =
      optionsFor(folder, {"/bin/sh", "-c", spin + " 2 0.5; until [ -e " + go + " ]; do sleep 0.01; done"});
  options.target.kind = Target::Kind::system;
  std::optional<CpuTimes> times;
  const std::atomic<bool> stop{false};
  const RecordResult result = record(options, stop, [&](const RecordProgress&) {
    if (!times) times.emplace(other.pid());  // sampling is on
    if (times->least() > 0.1) writeFile(go, "");
  });
  EXPECT_EQ(result.exitStatus, 0);
  EXPECT_TRUE(other.alive());
  Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.outOfOrder, 0u);
  EXPECT_GT(recorded.samplesByComm["spin"], 100u) << "the command";
  EXPECT_GT(recorded.samplesByComm["before"], 20u) << "what ran before, with its name";
  EXPECT_TRUE(recorded.mappedFiles.count(spin));
  EXPECT_TRUE(recorded.mappedFiles.count(before));
  EXPECT_TRUE(contains(readFile(options.outputDirectory + "/meta.json"), "\"kind\": \"system\""));
  if (!perfIsInstalled()) return;
  const ShellResult report =
      shell("cd " + folder.path() +
            " && perf report --stdio --no-children -s comm,sym -i out/perf.data < /dev/null");
  EXPECT_EQ(report.status, 0) << report.output;
  EXPECT_TRUE(contains(report.output, "before")) << report.output;
}

TEST(System, ForADuration) {
  if (!mayRecordTheMachine()) GTEST_SKIP() << "needs root or kernel.perf_event_paranoid=0";
  const TemporaryFolder folder;
  RecordOptions options = optionsFor(folder, {});
  options.target.kind = Target::Kind::system;
  options.durationSeconds = 0.3;
  const RecordResult result = recordNow(options);
  EXPECT_TRUE(result.durationReached);
  EXPECT_FALSE(result.exitStatus);
  EXPECT_EQ(Recorded(options.outputDirectory).samples, result.samples);
}

TEST(System, WithoutTheRightItIsRefusedWithTheSetting) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  if (readPermissions().perfEventParanoid.value_or(0) < 1)
    GTEST_SKIP() << "kernel.perf_event_paranoid lets everybody";
  const TemporaryFolder folder;
  RecordOptions options = optionsFor(folder, {});
  options.target.kind = Target::Kind::system;
  ::chmod(options.outputDirectory.c_str(), 0777);
  const std::string answer = inForkedChild([&]() -> std::string {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) return "still root";
    try {
      recordNow(options);
    } catch (const Error& error) {
      return std::string(errorKindName(error.kind())) + ": " + error.what() + " | " + error.nextStep();
    }
    return "recorded";
  });
  EXPECT_TRUE(contains(answer, "impossible: cannot record the whole machine")) << answer;
  EXPECT_TRUE(contains(answer, "sudo sysctl kernel.perf_event_paranoid=0")) << answer;
  EXPECT_TRUE(std::filesystem::is_empty(options.outputDirectory));
}

TEST(System, OnlyTheCpusAskedFor) {
  std::vector<uint32_t> cpus = onlineCpus();
  cpu_set_t ours;
  ASSERT_EQ(::sched_getaffinity(0, sizeof ours, &ours), 0);
  std::erase_if(cpus, [&](uint32_t cpu) { return !CPU_ISSET(cpu, &ours); });
  if (cpus.size() < 2) GTEST_SKIP() << "needs two CPUs";
  const TemporaryFolder folder;
  // Bound to their CPUs: the scheduler of a busy machine may leave one of them to others.
  const std::string spin = compile(folder, "spin", kSpin);
  const auto spinOn = [&](uint32_t cpu) {
    return "taskset -c " + std::to_string(cpu) + " " + spin + " 1 0.3";
  };
  RecordOptions options =
      optionsFor(folder, {"/bin/sh", "-c", spinOn(cpus.front()) + " & " + spinOn(cpus.back()) + "; wait"});
  options.target.cpus = {cpus.back()};
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.exitStatus, 0);
  const Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.samples, result.samples);
  EXPECT_EQ(recorded.cpus, std::set<uint32_t>{cpus.back()});
  EXPECT_EQ(recorded.reader->events().at(0).ids.size(), 1u);
}

/// Both FIFOs of a recording, held open by their other user.
struct Control {
  explicit Control(const TemporaryFolder& folder)
      : fifos{folder.file("control"), folder.file("acknowledge"), true} {
    for (const std::string& name : {fifos.command, fifos.acknowledge}) ::mkfifo(name.c_str(), 0600);
    commands = UniqueFd(::open(fifos.command.c_str(), O_RDWR | O_CLOEXEC));
    answers = UniqueFd(::open(fifos.acknowledge.c_str(), O_RDWR | O_CLOEXEC));
  }
  /// Waits for the answer.
  std::string say(const std::string& command) const {
    std::string answer(4, ' ');
    const std::string line = command + "\n";
    EXPECT_EQ(::write(commands.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
    EXPECT_EQ(::read(answers.get(), answer.data(), answer.size()), 4);
    return answer;
  }
  ControlFifo fifos;
  UniqueFd commands, answers;
};

TEST(Control, BeginsPausesAndEndsARecording) {
  const TemporaryFolder folder;
  const Control control(folder);
  RecordOptions options = optionsFor(folder, {compile(folder, "spin", kSpin), "1", "600"});
  options.control = control.fifos;
  const std::atomic<bool> stop{false};
  std::atomic<int> ticks{0};
  std::atomic<uint64_t> samples{0};
  const auto waitForTicks = [&](int more) {
    waitFor("tick", [&, until = ticks + more] { return ticks >= until; });
  };
  uint64_t before = 1, whilePaused = 0;
  std::thread other([&] {
    EXPECT_EQ(control.say("ping"), "ack\n");
    waitForTicks(2);
    before = samples;
    EXPECT_EQ(control.say("enable"), "ack\n");
    waitFor("twentieth sample", [&] { return samples >= 20; });
    EXPECT_EQ(control.say("disable"), "ack\n");
    waitForTicks(2);
    whilePaused = samples;
    waitForTicks(3);
    EXPECT_EQ(control.say("stop"), "ack\n");
  });
  const RecordResult result = record(options, stop, [&](const RecordProgress& progress) {
    samples = progress.samples;
    ticks++;
  });
  other.join();
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.durationReached);
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_EQ(before, 0u) << "it starts disabled";
  EXPECT_GE(whilePaused, 20u);
  EXPECT_EQ(result.samples, whilePaused) << "nothing is sampled while it is disabled";
  const Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.samples, result.samples);
  EXPECT_TRUE(recorded.mappedFiles.count(folder.file("spin"))) << "mapped before sampling began";
}

TEST(Control, WhatIsNoFifoIsRefused) {
  const TemporaryFolder folder;
  RecordOptions options = optionsFor(folder, {"/bin/true"});
  options.control = ControlFifo{folder.file("nowhere"), "", false};
  EXPECT_THROW(recordNow(options), Error);
  writeFile(folder.file("file"), "");
  options.control = ControlFifo{folder.file("file"), "", false};
  EXPECT_THROW(recordNow(options), Error);
  ASSERT_EQ(::mkfifo(folder.file("both").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("both", folder.file("alias").c_str()), 0);
  options.control = ControlFifo{folder.file("both"), folder.file("alias"), false};
  EXPECT_THROW(recordNow(options), Error) << "its answers would be commands";
  EXPECT_TRUE(std::filesystem::is_empty(options.outputDirectory));
}

TEST(Control, WordsThatAreNoCommandsAreSaid) {
  const TemporaryFolder folder;
  const Control control(folder);
  RecordOptions options = optionsFor(folder, {compile(folder, "spin", kSpin), "1", "600"});
  options.control = control.fifos;
  std::thread other([&] {
    const std::string words = std::string(5000, 'x') + "\nbegin\n\n";
    EXPECT_EQ(::write(control.commands.get(), words.data(), words.size()),
              static_cast<ssize_t>(words.size()));
    control.say("stop");
  });
  const RecordResult result = recordNow(options);
  other.join();
  EXPECT_TRUE(anyContains(result.warnings,
                          "'" + std::string(32, 'x') + "...' is not one of enable, disable, stop and ping"));
  EXPECT_EQ(result.samples, 0u);
  EXPECT_TRUE(anyContains(result.warnings, "nobody wrote enable to " + control.fifos.command));
}

}  // namespace
}  // namespace cacheline::record::test
