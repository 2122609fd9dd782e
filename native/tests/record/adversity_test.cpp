// Recording where the kernel refuses, the disk is full, the user is nobody, or the recorder is killed.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <rapidjson/document.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "record/capability.h"
#include "record/clock_plan.h"
#include "record/doctor.h"
#include "record/machine.h"
#include "record/perf_source.h"
#include "record/recorder.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

/// From now on perf_event_open fails with `errnum` in this process.
bool refusePerfEvents(int errnum) {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(errnum)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

constexpr uid_t kNobody = 65534;

bool becomeUser(uid_t user) {
  return ::setgroups(0, nullptr) == 0 && ::setgid(user) == 0 && ::setuid(user) == 0 &&
         ::prctl(PR_SET_DUMPABLE, 1) == 0;  // else our own child may not be looked at
}

/// A tmpfs of that size on a folder, for the guard's life.
class TinyDisk {
 public:
  TinyDisk(std::string folder, unsigned long flags, const char* options)
      : folder_(std::move(folder)),
        mounted_(::mount("tmpfs", folder_.c_str(), "tmpfs", flags, options) == 0) {}
  ~TinyDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

 private:
  std::string folder_;
  bool mounted_;
};

class Refused : public testing::TestWithParam<int> {};

TEST_P(Refused, NothingIsStartedAndTheReasonIsSaid) {
  const TemporaryFolder folder;
  const std::string trace = folder.file("it-ran");
  const RecordOptions options = optionsFor(folder, {"/bin/sh", "-c", "touch " + trace});
  const std::string answer = inForkedChild([&]() -> std::string {
    if (!refusePerfEvents(GetParam())) return "no seccomp";
    try {
      recordNow(options);
    } catch (const Error& error) {
      return std::string(errorKindName(error.kind())) + ": " + error.what() + " | " + error.nextStep();
    }
    return "recorded";
  });
  EXPECT_TRUE(contains(answer, "impossible: ")) << answer;
  EXPECT_TRUE(contains(answer, "perf_event_open is refused with " + errnoText(GetParam()))) << answer;
  EXPECT_TRUE(contains(answer, "perf_event_paranoid is ")) << answer;
  EXPECT_FALSE(contains(answer, " | \n")) << answer;
  if (GetParam() != ENOSYS) {
    EXPECT_TRUE(contains(answer, "seccomp filter: mode 2")) << answer;
  }
  EXPECT_FALSE(exists(trace)) << "the program must not run";
  EXPECT_TRUE(std::filesystem::is_empty(options.outputDirectory));
}

TEST_P(Refused, DoctorSaysTheSame) {
  const std::string json = inForkedChild([]() -> std::string {
    if (!refusePerfEvents(GetParam())) return "no seccomp";
    return doctorJson(examineMachine(CACHELINE_SAMPLER));
  });
  rapidjson::Document doctor;
  doctor.Parse(json.c_str());
  ASSERT_TRUE(doctor.IsObject()) << json;
  for (const auto& collector : doctor["collectors"].GetArray()) {
    // The agent is for just this.
    const bool agent = collector["name"].GetString() == std::string("agent");
    EXPECT_EQ(collector["usable"].GetBool(), agent) << json;
    EXPECT_EQ(collector["blockers"].Size() == 0, agent) << json;
  }
  EXPECT_EQ(doctor["machine"]["seccomp"].GetInt(), 2);
  EXPECT_EQ(doctor["machine"]["debugRegisters"].GetInt(), 0);
}

INSTANTIATE_TEST_SUITE_P(Errno, Refused, testing::Values(EACCES, EPERM, ENOSYS));

TEST(Adversity, ParanoidLevelIsNamedWithTheCommand) {
  Permissions permissions;
  permissions.perfEventParanoid = 4;
  const Error error = refusalError(EACCES, permissions);
  EXPECT_EQ(error.kind(), ErrorKind::impossible);
  EXPECT_TRUE(contains(error.what(), "kernel.perf_event_paranoid: 4")) << error.what();
  EXPECT_EQ(error.nextStep(), "sudo sysctl kernel.perf_event_paranoid=2");
  // With the capability the level is not the reason, unless another user namespace makes it worthless.
  permissions.capabilities = {"CAP_PERFMON"};
  EXPECT_NE(explainRefusal(EACCES, permissions).what, "kernel.perf_event_paranoid");
  permissions.initialUserNamespace = false;
  EXPECT_EQ(explainRefusal(EACCES, permissions).what, "kernel.perf_event_paranoid");
}

TEST(Adversity, NobodyRecordsWithoutTheKernel) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const std::optional<int64_t> paranoid = readPermissions().perfEventParanoid;
  if (paranoid != 2) GTEST_SKIP() << "needs kernel.perf_event_paranoid=2";
  const TemporaryFolder folder;
  const RecordOptions options = optionsFor(folder, {compile(folder, "spin", kSpin), "2", "0.5"});
  ::chmod(options.outputDirectory.c_str(), 0777);
  const std::string answer = inForkedChild([&]() -> std::string {
    if (!becomeUser(kNobody)) return "still root";
    const RecordResult result = recordNow(options);
    return result.exitStatus == 0 && result.lost == 0 ? "recorded" : "failed";
  });
  ASSERT_EQ(answer, "recorded");
  const Recorded recorded(options.outputDirectory);
  EXPECT_GT(recorded.samples, 100u);
  EXPECT_EQ(recorded.withRegisters, recorded.samples);
  EXPECT_EQ(recorded.kernelSamples, 0u);
  const perfdata::Event& event = recorded.reader->events().at(0);
  EXPECT_EQ(event.attr.exclude_kernel, 1u);
  EXPECT_EQ(event.name, "cpu-clock:u");
}

TEST_P(Refused, TheAgentRecordsInstead) {
  const TemporaryFolder folder;
  RecordOptions options = optionsFor(folder, {compile(folder, "spin", kSpin), "1", "30"});
  options.agentLibrary = CACHELINE_SAMPLER;
  const std::string answer = inForkedChild([&]() -> std::string {
    if (!refusePerfEvents(GetParam())) return "not refused";
    std::atomic<bool> stop{false};
    // On a busy machine its timers see few of the clock's ticks.
    const RecordResult result =
        record(options, stop, [&](const RecordProgress& progress) { stop = progress.samples > 20; });
    return result.collector + (result.samples > 20 ? " samples: " : " hardly any: ") +
           result.notTaken.back().reason;
  });
  EXPECT_TRUE(answer.starts_with("agent samples: ")) << answer;
  EXPECT_TRUE(contains(answer, errnoText(GetParam()))) << answer;
}

TEST(Adversity, ASetUserIdProgramOfAnotherUserIsRefusedBeforeItStarts) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to make a set-user-ID program and become another user";
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin);
  const RecordOptions options = optionsFor(folder, {spin, "1", "0.5"});
  ::chmod(spin.c_str(), 04755);
  ::chmod(options.outputDirectory.c_str(), 0777);
  const std::string answer = inForkedChild([&]() -> std::string {
    if (!becomeUser(kNobody)) return "still root";
    try {
      recordNow(options);
      return "recorded";
    } catch (const Error& error) {
      return error.what();
    }
  });
  EXPECT_TRUE(contains(answer, "set-user-ID or set-group-ID, and the kernel lets nobody sample")) << answer;
  EXPECT_TRUE(contains(answer, "nor with the agent")) << answer;
  EXPECT_FALSE(exists(options.outputDirectory + "/perf.data"));
}

TEST(Adversity, AProgramThatMayNotBeReadIsSampledByTheAgent) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin);
  RecordOptions options = optionsFor(folder, {spin, "1", "0.5"});
  options.agentLibrary = CACHELINE_SAMPLER;
  ::chmod(spin.c_str(), 0711);
  ::chmod(options.outputDirectory.c_str(), 0777);
  const std::string answer = inForkedChild([&]() -> std::string {
    if (!becomeUser(kNobody)) return "still root";
    const RecordResult result = recordNow(options);
    return result.collector + (result.samples > 0 ? " samples: " : " nothing: ") +
           result.notTaken.back().reason;
  });
  EXPECT_TRUE(answer.starts_with("agent samples: ")) << answer;
  EXPECT_TRUE(contains(answer, "not readable by this user")) << answer;
}

TEST(Adversity, RingsShrinkToTheMemoryThatMayBeLocked) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  if (readPermissions().perfEventMlockKb != 516 || onlineCpus().size() < 2)
    GTEST_SKIP() << "needs kernel.perf_event_mlock_kb=516 and two CPUs";
  const std::string answer = inForkedChild([]() -> std::string {
    const rlimit none{0, 0};
    constexpr uid_t kOwnUser = 64123;  // locked memory is counted by user
    if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0 || !becomeUser(kOwnUser)) return "still root";
    const Permissions permissions = readPermissions();
    const EventPlan plan = planClock(RecordOptions{}, permissions).plan;
    const Target self{Target::Kind::threads, {0}, {0}, true},
        everywhere{Target::Kind::threads, {0}, {}, true};
    const auto held =
        PerfSource::open(Kernel::real(), plan, self, permissions, {.ringBytes = size_t{256} << 10});
    const auto source = PerfSource::open(Kernel::real(), plan, everywhere, permissions, {});
    return std::to_string(held->ringBytes()) + " " + std::to_string(source->ringBytes());
  });
  EXPECT_EQ(answer, "262144 262144");
}

TEST(Adversity, AFullDiskKeepsWhatWasWrittenAndLetsTheProgramEnd) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a tiny tmpfs";
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin);
  RecordOptions options =
      optionsFor(folder, {"/bin/sh", "-c", spin + " 2 1.5 && touch " + folder.file("ended")});
  options.frequency = 4999;
  const TinyDisk disk(options.outputDirectory, 0, "size=256k");
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount a tmpfs here";
  std::string message;
  ErrorKind kind = ErrorKind::internal;
  try {
    recordNow(options);
  } catch (const Error& error) {
    message = error.what();
    kind = error.kind();
  }
  EXPECT_EQ(kind, ErrorKind::io);
  EXPECT_TRUE(contains(message, "perf.data")) << message;
  EXPECT_TRUE(contains(message, "No space left on device")) << message;
  EXPECT_TRUE(contains(message, "kept")) << message;
  EXPECT_TRUE(exists(folder.file("ended"))) << "the program must run to its end";
  const Recorded recorded(options.outputDirectory);
  EXPECT_GT(recorded.samples, 100u);
  EXPECT_EQ(recorded.withRegisters, recorded.samples);
  const std::string meta = readFile(options.outputDirectory + "/meta.json");
  EXPECT_TRUE(contains(meta, "cacheline-recording/1"));
  EXPECT_TRUE(contains(meta, "the recording is cut short: ")) << meta;
  EXPECT_TRUE(contains(meta, "No space left on device")) << meta;
  EXPECT_FALSE(exists(options.outputDirectory + "/meta.json.new"));
}

TEST(Adversity, AnOutputFolderThatCannotBeWrittenStartsNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a read-only tmpfs";
  const TemporaryFolder folder;
  const RecordOptions options = optionsFor(folder, {"/bin/sh", "-c", "touch " + folder.file("it-ran")});
  const TinyDisk disk(options.outputDirectory, MS_RDONLY, "size=64k");
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount a tmpfs here";
  EXPECT_THROW(recordNow(options), Error);
  EXPECT_FALSE(exists(folder.file("it-ran")));
}

TEST(Adversity, AKilledRecorderLeavesAReadableRecording) {
  const TemporaryFolder folder;
  const RecordOptions options = optionsFor(folder, {compile(folder, "spin", kSpin), "2", "600"});
  const pid_t recorder = ::fork();
  if (recorder == 0) {
    recordNow(options);
    ::_exit(0);
  }
  const std::string file = options.outputDirectory + "/perf.data";
  waitFor("recording with much in it", [&] {
    return exists(file) && std::filesystem::file_size(file) >= 50'000 &&
           contains(readFile(options.outputDirectory + "/meta.json"), "buildId");
  });
  ::kill(recorder, SIGKILL);
  int status = 0;
  ::waitpid(recorder, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const Recorded recorded(options.outputDirectory);
  EXPECT_GT(recorded.samples, 100u);
  EXPECT_EQ(recorded.withRegisters, recorded.samples);
  ASSERT_EQ(recorded.pids.size(), 1u);
  EXPECT_EQ(::kill(static_cast<pid_t>(*recorded.pids.begin()), SIGKILL), 0) << "the program goes on";
  rapidjson::Document meta;
  meta.Parse(readFile(options.outputDirectory + "/meta.json").c_str());
  ASSERT_TRUE(meta.IsObject());
  EXPECT_TRUE(meta["program"].IsNull());
  EXPECT_EQ(meta["command"].Size(), 3u);
  ASSERT_GT(meta["binaries"].Size(), 0u) << "a program that changes afterwards is told by them";
  EXPECT_EQ(meta["binaries"][0]["path"].GetString(), options.command[0]);
}

TEST(Adversity, AProgressCallbackThatThrowsLetsTheProgramEnd) {
  const TemporaryFolder folder;
  const std::string go = folder.file("go");
  const RecordOptions options = optionsFor(
      folder,
      {"/bin/sh", "-c", "until [ -e " + go + " ]; do sleep 0.01; done; touch " + folder.file("ended")});
  const std::atomic<bool> stop{false};
  const auto throws = [&](const RecordProgress&) {
    writeFile(go, "");
    throw std::runtime_error("broken");
  };
  EXPECT_THROW(record(options, stop, throws), std::runtime_error);
  EXPECT_TRUE(exists(folder.file("ended")));
}

}  // namespace
}  // namespace cacheline::record::test
