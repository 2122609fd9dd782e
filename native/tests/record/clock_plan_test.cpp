// The clock's plan by option, how a plan is opened where the kernel refuses parts of it, and what perf makes
// of the recordings.
#include "record/clock_plan.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cerrno>
#include <functional>

#include "base/error.h"
#include "record/machine.h"
#include "record/perf_source.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

TEST(ClockPlan, ModesLeaveAttemptsOut) {
  RecordOptions options;
  EXPECT_EQ(planClock(options, {}).plan.attempts.size(), 4u);
  options.userOnly = true;
  for (const Attempt& attempt : planClock(options, {}).plan.attempts) {
    EXPECT_FALSE(attempt.kernel);
    EXPECT_EQ(attempt.events[0].event.attr.exclude_kernel, 1u);
    EXPECT_EQ(attempt.events[0].event.name, "cpu-clock:u");
  }
  options.userOnly = false;
  options.kernelOnly = true;
  for (const Attempt& attempt : planClock(options, {}).plan.attempts) {
    EXPECT_TRUE(attempt.kernel);
    EXPECT_EQ(attempt.events[0].event.attr.exclude_user, 1u);
    EXPECT_EQ(attempt.events[0].event.name, "cpu-clock:k");
  }
}

TEST(ClockPlan, PeriodsAreNotShorterThanTheProgramBears) {
  RecordOptions options;
  options.period = 2'000'000;
  const Planned planned = planClock(options, {});
  const perf_event_attr& attr = planned.plan.attempts[0].events[0].event.attr;
  EXPECT_EQ(attr.freq, 0u);
  EXPECT_EQ(attr.sample_period, 2'000'000u);
  EXPECT_TRUE(planned.plan.attempts[0].warnings.empty());
  options.period = 10;
  const Planned raised = planClock(options, {});
  EXPECT_EQ(raised.plan.attempts[0].events[0].event.attr.sample_period, 50'000u);
  EXPECT_TRUE(anyContains(raised.plan.attempts[0].warnings, "every 10 ns"));
}

TEST(ClockPlan, BranchStacksAreBlockedWithTheWayOut) {
  RecordOptions options;
  options.callGraph = CallGraph::branchStack;
  const Planned planned = planClock(options, {});
  EXPECT_TRUE(planned.plan.attempts.empty());
  ASSERT_EQ(planned.blockers.size(), 1u);
  EXPECT_TRUE(contains(planned.blockers[0].fix, "--call-graph fp or dwarf"));
}

TEST(ClockPlan, StacksAreUnwoundByPerf) {
  const TemporaryFolder folder;
  // Without frame pointers only the stack tells who called.
  const std::string program = compile(folder, "deep", R"(
#include <time.h>
static volatile long counter;
__attribute__((noinline)) static void inner(void) {
  for (int i = 0; i < 100000; i++) counter++;
}
__attribute__((noinline)) static void middle(void) { inner(); counter++; }
int main(void) {
  while (clock() < CLOCKS_PER_SEC / 2) middle();
  return 0;
})",
                                      "-O1 -g -fomit-frame-pointer");
  RecordOptions options = optionsFor(folder, {program});
  options.callGraph = CallGraph::dwarf;
  options.ringBytes = size_t{4} << 20;  // for all 8 KiB stacks, however late the recorder comes
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.lost, 0u);
  const Recorded recorded(options.outputDirectory);
  EXPECT_EQ(recorded.samples, result.samples);
  EXPECT_EQ(recorded.withRegisters, result.samples) << "and the reader finds the registers behind the stack";
  if (!perfIsInstalled()) GTEST_SKIP() << "perf is not installed (Debian: apt-get install linux-perf)";
  const ShellResult script =
      shell("cd " + folder.path() + " && perf script -F ip,sym -i out/perf.data < /dev/null");
  ASSERT_EQ(script.status, 0) << script.output.substr(0, 500);
  EXPECT_TRUE(contains(script.output, "middle")) << script.output.substr(0, 2000);
  EXPECT_TRUE(contains(script.output, "main")) << script.output.substr(0, 2000);
}

/// A kernel that sees every call first: `refuse` gives the errno for it, or 0.
struct RefusingKernel : Kernel {
  using Refuse = std::function<int(const perf_event_attr&, pid_t, int)>;
  explicit RefusingKernel(Refuse refuse) {
    perfEventOpen = [this, refuse = std::move(refuse)](const perf_event_attr& attr, pid_t pid, int cpu,
                                                       int groupFd, unsigned long flags) {
      if (const int errnum = refuse(attr, pid, cpu)) {
        errno = errnum;
        return -1;
      }
      if (cpu >= 0) groups.push_back(groupFd);  // others only ask what the kernel can do
      perf_event_attr dummy = attr;
      dummy.type = PERF_TYPE_SOFTWARE;
      dummy.config = PERF_COUNT_SW_DUMMY;
      dummy.precise_ip = 0;
      return Kernel::real().perfEventOpen(dummy, pid, cpu, groupFd, flags);
    };
  }
  std::vector<int> groups;
};

const Target kSelf{Target::Kind::threads, {0}, {}, true};

EventPlan clockPlan() {
  return planClock(RecordOptions{}, {}).plan;
}

TEST(PerfSource, FallsToTheFirstAttemptThatTheKernelTakes) {
  RefusingKernel kernel(
      [](const perf_event_attr& attr, pid_t, int) { return attr.exclude_kernel ? 0 : EACCES; });
  const auto source = PerfSource::open(kernel, clockPlan(), kSelf, {}, {});
  EXPECT_EQ(source->events().at(0).name, "cpu-clock:u");
  EXPECT_EQ(source->events().at(0).ids.size(), onlineCpus().size());
}

TEST(PerfSource, CpusThatWentOfflineAreLeftOut) {
  if (onlineCpus().size() < 2) GTEST_SKIP() << "needs two CPUs";
  RefusingKernel kernel([](const perf_event_attr&, pid_t, int cpu) {
    return static_cast<uint32_t>(cpu) == onlineCpus().front() ? ENODEV : 0;
  });
  const auto source = PerfSource::open(kernel, clockPlan(), kSelf, {}, {});
  EXPECT_EQ(source->events().at(0).ids.size(), onlineCpus().size() - 1);
}

TEST(PerfSource, PrecisionFallsStepByStepButNotToNone) {
  EventPlan plan = clockPlan();
  plan.attempts.resize(1);
  plan.attempts[0].events[0].event.attr.precise_ip = 3;
  plan.attempts[0].events[0].precisionMayFall = true;
  RefusingKernel two(
      [](const perf_event_attr& attr, pid_t, int) { return attr.precise_ip > 2 ? EOPNOTSUPP : 0; });
  EXPECT_EQ(PerfSource::open(two, plan, kSelf, {}, {})->events().at(0).attr.precise_ip, 2u);
  RefusingKernel none(
      [](const perf_event_attr& attr, pid_t, int) { return attr.precise_ip > 0 ? EINVAL : 0; });
  EXPECT_THROW(PerfSource::open(none, plan, kSelf, {}, {}), RefusedError);
}

TEST(PerfSource, MembersFollowTheirLeaderOnEachCpu) {
  EventPlan plan = clockPlan();
  plan.attempts.resize(1);
  plan.attempts[0].events.push_back(plan.attempts[0].events[0]);
  plan.attempts[0].events[1].leader = 0;
  RefusingKernel kernel([](const perf_event_attr&, pid_t, int) { return 0; });
  const auto source = PerfSource::open(kernel, plan, kSelf, {}, {});
  ASSERT_EQ(kernel.groups.size(), 2 * onlineCpus().size());
  for (size_t i = 0; i < kernel.groups.size(); i++) EXPECT_EQ(kernel.groups[i] >= 0, i % 2 == 1);
  EXPECT_EQ(source->events().at(0).attr.disabled, 1u);
  EXPECT_EQ(source->events().at(1).attr.disabled, 0u) << "its leader says when";
}

TEST(PerfSource, OldKernelsFollowNoThreadsWithoutProcesses) {
  Target target = kSelf;
  target.children = false;
  RefusingKernel kernel(
      [](const perf_event_attr& attr, pid_t, int) { return attr.inherit_thread ? EINVAL : 0; });
  const auto source = PerfSource::open(kernel, clockPlan(), target, {}, {});
  EXPECT_EQ(source->events().at(0).attr.inherit, 0u);
  EXPECT_TRUE(anyContains(source->warnings(), "Linux 5.13"));
}

TEST(PerfSource, OldKernelsDoNotCountWhatWasLost) {
  RefusingKernel kernel(
      [](const perf_event_attr& attr, pid_t, int) { return attr.read_format ? EINVAL : 0; });
  const auto source = PerfSource::open(kernel, clockPlan(), kSelf, {}, {});
  EXPECT_EQ(source->events().at(0).attr.read_format, 0u);
  EXPECT_FALSE(source->lost());
}

TEST(PerfSource, ATargetThatHasEndedIsSaid) {
  RefusingKernel kernel([](const perf_event_attr&, pid_t, int) { return ESRCH; });
  try {
    PerfSource::open(kernel, clockPlan(), kSelf, {}, {});
    FAIL() << "it was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_TRUE(contains(error.what(), "has ended")) << error.what();
  }
}

TEST(PerfSource, RingsAreOfTheSizeAskedForRoundedUp) {
  const Target self{Target::Kind::threads, {0}, {onlineCpus().front()}, true};
  const auto source =
      PerfSource::open(Kernel::real(), clockPlan(), self, readPermissions(), {.ringBytes = 100'000});
  EXPECT_EQ(source->ringBytes(), size_t{128} << 10);
}

}  // namespace
}  // namespace cacheline::record::test
