// What blocks each collector, decided on machines that are not there: made-up permissions, sysfs trees and
// answers of perf_event_open.
#include "record/examine.h"

#include <fcntl.h>

#include <cerrno>

#include "support.h"

namespace cacheline::record::test {
namespace {

/// Refuses everything after `count` events, which are of no use but open.
Kernel refusing(int errnum, int count = 0, const std::string& sysfs = "/nowhere") {
  return {sysfs, [errnum, left = count](const perf_event_attr&, pid_t, int, int, unsigned long) mutable {
            if (left-- > 0) return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
            errno = errnum;
            return -1;
          }};
}

Permissions permissionsOf(int64_t paranoid, int64_t seccomp = 0) {
  Permissions permissions;
  permissions.perfEventParanoid = paranoid;
  permissions.seccompMode = seccomp;
  return permissions;
}

std::string textOf(const std::vector<Blocker>& blockers) {
  std::string text;
  for (const Blocker& blocker : blockers) {
    EXPECT_FALSE(blocker.value.empty() || blocker.fix.empty()) << blocker.what;
    text += "[" + blocker.what + ": " + blocker.value + " -> " + blocker.fix + "]";
  }
  return text;
}

TEST(Refusal, TheParanoidLevelSaysEacces) {
  const std::string text = textOf(refusalBlockers(EACCES, permissionsOf(3, 2)));
  EXPECT_EQ(text,
            "[kernel.perf_event_paranoid: 3, and this user has no CAP_PERFMON -> "
            "sudo sysctl kernel.perf_event_paranoid=2]");
}

TEST(Refusal, CapabilitiesOfAnotherUserNamespaceDoNotCount) {
  Permissions permissions = permissionsOf(4);
  permissions.capabilities = {"CAP_PERFMON"};
  permissions.initialUserNamespace = false;
  EXPECT_TRUE(contains(textOf(refusalBlockers(EACCES, permissions)),
                       "4, and capabilities of this user namespace do not count"));
}

TEST(Refusal, BehindAFilterStandsTheParanoidLevel) {
  const std::vector<Blocker> both = refusalBlockers(EPERM, permissionsOf(3, 2));
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].what, "seccomp filter");
  EXPECT_TRUE(contains(both[0].fix, "--cap-add PERFMON"));
  EXPECT_EQ(both[1].what, "kernel.perf_event_paranoid");
  EXPECT_EQ(refusalBlockers(EPERM, permissionsOf(2, 2)).size(), 1u);
  const RefusedError error = refusalError(EPERM, permissionsOf(3, 2));
  EXPECT_EQ(error.nextStep(), both[0].fix + "; and: " + both[1].fix);
  EXPECT_TRUE(contains(error.what(), "seccomp filter: mode 2; kernel.perf_event_paranoid: 3"))
      << error.what();
}

TEST(Refusal, AMissingCallIsAFilterWhereThereIsOne) {
  EXPECT_EQ(refusalBlockers(ENOSYS, permissionsOf(2, 2)).front().what, "seccomp filter");
  EXPECT_TRUE(contains(textOf(refusalBlockers(ENOSYS, permissionsOf(2))), "CONFIG_PERF_EVENTS"));
}

TEST(Refusal, LockdownSecurityModulesAndLimits) {
  Permissions permissions = permissionsOf(2);
  EXPECT_TRUE(contains(textOf(refusalBlockers(EACCES, permissions)), "ausearch"));
  permissions.lockdown = "confidentiality";
  EXPECT_TRUE(contains(textOf(refusalBlockers(EPERM, permissions)), "[kernel lockdown: confidentiality"));
  EXPECT_TRUE(contains(textOf(refusalBlockers(EMFILE, permissions)), "ulimit -n"));
}

TEST(Examine, WithoutAMemoryPmu) {
  const TemporaryFolder sysfs;
  const CollectorState pmu = examinePmu(refusing(EINVAL, 0, sysfs.path()), permissionsOf(2));
  EXPECT_EQ(pmu.name, "pmu");
  EXPECT_FALSE(pmu.usable);
  EXPECT_TRUE(contains(textOf(pmu.blockers),
                       "[memory PMU: no memory PMU on this machine (nothing under " + sysfs.path()));
}

TEST(Examine, TheClockIsRefused) {
  const CollectorState clock = examineClock(refusing(EPERM), permissionsOf(3, 2));
  EXPECT_EQ(clock.name, "clock");
  EXPECT_FALSE(clock.usable);
  EXPECT_EQ(clock.blockers.size(), 2u) << textOf(clock.blockers);
}

TEST(Examine, WhatTheClockReaches) {
  Permissions permissions = permissionsOf(2);
  permissions.ptraceScope = 1;
  const auto note = [&] { return examineClock(Kernel::real(), permissions).note; };
  if (!examineClock(Kernel::real(), readPermissions()).usable) GTEST_SKIP() << "perf events are refused here";
  EXPECT_EQ(
      note(),
      "It attaches to this user's processes (-p), whatever kernel.yama.ptrace_scope (1) says. Other users' "
      "processes need CAP_PERFMON. The whole machine (-a) needs CAP_PERFMON or: sudo sysctl "
      "kernel.perf_event_paranoid=0");
  permissions.perfEventParanoid = 0;
  permissions.ptraceScope = 0;
  EXPECT_EQ(
      note(),
      "It attaches to this user's processes (-p) and records the whole machine (-a). Other users' processes "
      "need CAP_PERFMON");
  permissions.capabilities = {"CAP_PERFMON"};
  EXPECT_EQ(note(), "It attaches to every process (-p) and records the whole machine (-a)");
}

TEST(Examine, Watchpoints) {
  const auto watch = [](const Kernel& kernel) {
    return examineWatch(tryDebugRegisters(kernel), permissionsOf(3, 2));
  };
  EXPECT_TRUE(watch(refusing(ENOSPC, 4)).usable);
  EXPECT_TRUE(watch(refusing(ENOSPC, 1)).usable);
  EXPECT_EQ(tryDebugRegisters(refusing(ENOSPC, 4)).count, 4);
  EXPECT_TRUE(contains(textOf(watch(refusing(ENOSPC)).blockers), "[debug registers: all in use -> End the"));
  EXPECT_TRUE(contains(textOf(watch(refusing(ENODEV)).blockers), "[debug registers: none: ENODEV"));
  EXPECT_EQ(watch(refusing(EACCES)).blockers.front().what, "kernel.perf_event_paranoid");
  EXPECT_EQ(watch(refusing(EPERM)).blockers.size(), 2u);
}

TEST(Examine, TheAgentIsMissing) {
  const CollectorState agent = examineAgent("/nowhere/libcacheline_sampler.so");
  EXPECT_EQ(agent.name, "agent");
  EXPECT_FALSE(agent.usable);
  EXPECT_TRUE(contains(textOf(agent.blockers), "/nowhere/libcacheline_sampler.so"));
}

}  // namespace
}  // namespace cacheline::record::test
