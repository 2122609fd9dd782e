// What may go wrong while recording: nothing recorded is lost, and the program is unharmed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "record/procfs.h"
#include "record/recorder.h"
#include "running.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

/// A recorder in a process of its own, which a signal ends once its file has grown so far.
void endRecorder(const RecordOptions& options, uint64_t bytes, int signal) {
  const pid_t recorder = ::fork();
  if (recorder == 0) {
    ::signal(signal, SIG_DFL);
    recordNow(options);
    ::_exit(0);
  }
  const std::string file = options.outputDirectory + "/perf.data";
  waitFor("file of " + std::to_string(bytes) + " bytes",
          [&] { return exists(file) && std::filesystem::file_size(file) >= bytes; });
  ::kill(recorder, signal);
  int status = 0;
  ::waitpid(recorder, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended before the signal";
}

TEST(Faults, ARecorderThatIsKilledAtAnyMomentLeavesWhatItHasAndTheProgram) {
  const TemporaryFolder folder;
  Running program({compile(folder, "spin", kSpin), "2", "600"});
  program.waitForThreads(3);
  for (const int signal : {SIGKILL, SIGTERM}) {
    for (const uint64_t bytes : {1u, 5'000u, 30'000u, 90'000u}) {
      const RecordOptions options = attachTo(folder, {program.pid()});
      endRecorder(options, bytes, signal);
      const Recorded recorded(options.outputDirectory);
      EXPECT_EQ(recorded.outOfOrder, 0u);
      EXPECT_EQ(recorded.withRegisters, recorded.samples);
      if (bytes > 50'000) {
        EXPECT_GT(recorded.samples, 50u);
      }
      EXPECT_TRUE(contains(readFile(options.outputDirectory + "/meta.json"), "\"program\": null"));
      EXPECT_TRUE(program.alive());
      std::filesystem::remove_all(options.outputDirectory);
    }
  }
  EXPECT_EQ(threadsOf(program.pid()).size(), 3u);
}

TEST(Faults, AFullDiskLeavesTheAttachedProgramAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a tiny tmpfs";
  const TemporaryFolder folder;
  Running program({compile(folder, "spin", kSpin), "2", "600"});
  program.waitForThreads(3);
  RecordOptions options = attachTo(folder, {program.pid()});
  options.frequency = 4999;
  if (::mount("tmpfs", options.outputDirectory.c_str(), "tmpfs", 0, "size=256k") != 0)
    GTEST_SKIP() << "cannot mount a tmpfs here";
  std::string message;
  try {
    recordNow(options);
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_TRUE(contains(message, "No space left on device")) << message;
  EXPECT_TRUE(program.alive());
  EXPECT_GT(Recorded(options.outputDirectory).samples, 100u);
  ::umount2(options.outputDirectory.c_str(), MNT_DETACH);
}

TEST(Faults, AnAttachedProgramThatCrashesEndsTheRecording) {
  const TemporaryFolder folder;
  Running program({compile(folder, "spin", kSpin), "2", "600"});
  program.waitForThreads(3);
  const RecordOptions options = attachTo(folder, {program.pid()});
  const std::atomic<bool> stop{false};
  const RecordResult result = record(options, stop, [&](const RecordProgress& progress) {
    if (progress.samples > 100) ::kill(program.pid(), SIGSEGV);
  });
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(program.wait(), 128 + SIGSEGV);
  const Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.samples, result.samples);
  EXPECT_GT(recorded.samples, 100u);
  EXPECT_GE(recorded.exits, 3u);
}

TEST(Faults, AProgramOutlivesTheRecorderThatStartedIt) {
  const TemporaryFolder folder;
  // STARTED ENDED: makes these files, and ends once its parent has.
  const std::string program = compile(folder, "orphan", R"(
#include <fcntl.h>
#include <unistd.h>
int main(int count, char** arguments) {
  int parent = getppid();
  creat(arguments[1], 0644);
  while (getppid() == parent) usleep(1000);
  creat(arguments[count - 1], 0644);
  return 0;
})");
  const std::string started = folder.file("started"), ended = folder.file("ended");
  const pid_t recorder = ::fork();
  if (recorder == 0) {
    recordNow(optionsFor(folder, {program, started, ended}));
    ::_exit(0);
  }
  waitFor("start of the program", [&] { return exists(started); });
  EXPECT_FALSE(exists(ended));
  ::kill(recorder, SIGKILL);
  ::waitpid(recorder, nullptr, 0);
  waitFor("end of the program", [&] { return exists(ended); });
}

/// GO: once there is such a file, 4000 threads as fast as it can, 8 at a time.
const char* const kShortThreads = R"(
#include <pthread.h>
#include <unistd.h>
static volatile long counters[8];
static void* work(void* argument) {
  for (int i = 0; i < 1000; i++) counters[(long)argument]++;
  return 0;
}
int main(int count, char** arguments) {
  while (access(arguments[1], F_OK) != 0) usleep(1000);
  for (int round = 0; round < 500; round++) {
    pthread_t ids[8];
    for (long i = 0; i < 8; i++) if (pthread_create(&ids[i], 0, work, (void*)i)) return 1;
    for (long i = 0; i < 8; i++) pthread_join(ids[i], 0);
  }
  return count == 2 ? 5 : 1;
})";

/// However late the recorder comes to empty the rings.
constexpr size_t kRoomForAll = size_t{4} << 20;

void expectAllShortThreads(const RecordResult& result, const std::string& directory) {
  EXPECT_EQ(result.lost, 0u);
  const Recorded recorded(directory);
  EXPECT_EQ(recorded.forks, 4000u);
  EXPECT_EQ(recorded.exits, 4001u);
  EXPECT_EQ(recorded.outOfOrder, 0u);
}

TEST(Faults, ThousandsOfShortThreadsAreAllThere) {
  const TemporaryFolder folder;
  RecordOptions options = optionsFor(folder, {compile(folder, "short", kShortThreads), "/"});
  options.ringBytes = kRoomForAll;
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.exitStatus, 5);
  expectAllShortThreads(result, options.outputDirectory);
}

TEST(Faults, ThousandsOfShortThreadsOfAnAttachedProgramAreAllThere) {
  const TemporaryFolder folder;
  const std::string go = folder.file("go");
  Running program({compile(folder, "short", kShortThreads), go});
  RecordOptions options = attachTo(folder, {program.pid()});
  options.ringBytes = kRoomForAll;
  const std::atomic<bool> stop{false};
  const RecordResult result = record(options, stop, [&](const RecordProgress&) { writeFile(go, ""); });
  EXPECT_EQ(program.wait(), 5);
  expectAllShortThreads(result, options.outputDirectory);
}

TEST(Faults, AChainOfExecsIsFollowedToItsEnd) {
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin);
  writeFile(
      folder.file("chain"),
      "#!/bin/sh\nif [ \"$1\" -gt 0 ]; then exec \"$0\" $(($1 - 1)); else exec " + spin + " 2 0.3; fi\n",
      0755);
  const RecordOptions options = optionsFor(folder, {folder.file("chain"), "30"});
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.exitStatus, 0);
  EXPECT_EQ(result.lost, 0u);
  Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.execs.size(), 32u);
  EXPECT_EQ(recorded.execs.back(), "spin");
  EXPECT_GT(recorded.samplesByComm["spin"], 100u);
}

TEST(Faults, AProgramUnderAnotherTracerIsRecordedAndStaysTraced) {
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin);
  // The test is the tracer: it stops the program now and then, as a debugger does.
  const pid_t traced = ::fork();
  if (traced == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::execl(spin.c_str(), "spin", "1", "600", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(traced, &status, 0), traced);
  if (!WIFSTOPPED(status)) GTEST_SKIP() << "ptrace is refused here";
  ASSERT_EQ(::ptrace(PTRACE_CONT, traced, nullptr, nullptr), 0);
  waitFor("second thread", [&] { return threadsOf(traced).size() == 2; });

  const RecordOptions options = attachTo(folder, {traced});
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> samples{0};
  std::thread recorder(
      [&] { record(options, stop, [&](const RecordProgress& progress) { samples = progress.samples; }); });
  for (int i = 0; i < 5; i++) {
    const uint64_t before = samples;
    waitFor("sample", [&] { return samples > before; });
    ::syscall(SYS_tgkill, traced, traced, SIGSTOP);  // only the first thread is traced
    EXPECT_EQ(::waitpid(traced, &status, 0), traced);
    EXPECT_TRUE(WIFSTOPPED(status)) << status;
    EXPECT_EQ(::ptrace(PTRACE_CONT, traced, nullptr, nullptr), 0) << "still ours";
  }
  stop = true;
  recorder.join();
  EXPECT_EQ(Recorded(options.outputDirectory).lost, 0u);
  ::kill(traced, SIGKILL);
  ::waitpid(traced, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

}  // namespace
}  // namespace cacheline::record::test
