// What cannot be attached to: one sentence with the reason, and the next step.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "record/procfs.h"
#include "record/recorder.h"
#include "running.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

/// What record() says, as "kind: sentence | next step".
std::string refusal(const RecordOptions& options) {
  try {
    recordNow(options);
  } catch (const Error& error) {
    EXPECT_TRUE(std::filesystem::is_empty(options.outputDirectory));
    EXPECT_FALSE(error.nextStep().empty());
    return std::string(errorKindName(error.kind())) + ": " + error.what() + " | " + error.nextStep();
  }
  return "recorded";
}

TEST(Attach, WhatCannotBeRecordedIsSaid) {
  const TemporaryFolder folder;
  Running program({compile(folder, "spin", kSpin), "1", "600"});
  program.waitForThreads(2);
  const pid_t thread = threadsOf(program.pid()).back();
  std::string text = refusal(attachTo(folder, {thread}));
  EXPECT_TRUE(contains(text, "usage: " + std::to_string(thread) + " is a thread of process")) << text;
  text = refusal(attachTo(folder, {4'100'000}));
  EXPECT_TRUE(contains(text, "usage: there is no process 4100000")) << text;
  text = refusal(attachTo(folder, {4'100'000}, Target::Kind::threads));
  EXPECT_TRUE(contains(text, "there is no thread 4100000")) << text;
  text = refusal(attachTo(folder, {-3}));
  EXPECT_TRUE(contains(text, "there is no process -3")) << text;
  text = refusal(attachTo(folder, {}));
  EXPECT_TRUE(contains(text, "no process to record")) << text;
  RecordOptions both = attachTo(folder, {program.pid()});
  both.command = {"/bin/true"};
  EXPECT_TRUE(contains(refusal(both), "not both"));
  RecordOptions offline = attachTo(folder, {program.pid()});
  offline.target.cpus = {4000};
  EXPECT_TRUE(contains(refusal(offline), "CPU 4000 is not online"));
}

TEST(Attach, AZombieHasEnded) {
  const TemporaryFolder folder;
  Running program({"/bin/true"});
  waitFor("end of the program", [&] { return !program.alive(); });
  const std::string text = refusal(attachTo(folder, {program.pid()}));
  EXPECT_TRUE(contains(text, "usage: process " + std::to_string(program.pid()) + " (true) has ended"))
      << text;
}

TEST(Attach, AKernelThreadRunsNoProgram) {
  const std::optional<std::string> name = readText("/proc/2/comm");
  if (name != "kthreadd") GTEST_SKIP() << "a container of its own process ids shows no kernel threads";
  const TemporaryFolder folder;
  EXPECT_TRUE(
      contains(refusal(attachTo(folder, {2})), "usage: process 2 (kthreadd) is one of the kernel's own"));
}

TEST(Attach, AnotherUsersProcessIsRefusedWithItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const TemporaryFolder folder;
  Running program({compile(folder, "spin", kSpin), "1", "600"});
  program.waitForThreads(2);
  const RecordOptions options = attachTo(folder, {program.pid()});
  const std::string answer = inForkedChild([&] {
    return ::setgid(65534) == 0 && ::setuid(65534) == 0 ? refusal(options) : std::string("still root");
  });
  EXPECT_TRUE(contains(answer, "impossible: cannot record process")) << answer;
  EXPECT_TRUE(contains(answer, "belongs to root")) << answer;
  EXPECT_TRUE(contains(answer, "sudo")) << answer;
}

/// Root in name only, from now on.
bool giveUpCapabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  return ::syscall(SYS_capset, &header, sets.data()) == 0;
}

TEST(Attach, AProcessWithMorePrivilegesThanThisRootIsRefusedWithoutSudo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const TemporaryFolder folder;
  Running program({compile(folder, "spin", kSpin), "1", "600"});
  RecordOptions options = attachTo(folder, {program.pid()});
  options.durationSeconds = 0.5;
  const std::string answer =
      inForkedChild([&] { return giveUpCapabilities() ? refusal(options) : std::string("not given up"); });
  EXPECT_TRUE(contains(answer, "has privileges that this user lacks")) << answer;
  EXPECT_TRUE(contains(answer, "CAP_SYS_PTRACE")) << answer;
  EXPECT_FALSE(contains(answer, "sudo")) << answer;
}

}  // namespace
}  // namespace cacheline::record::test
