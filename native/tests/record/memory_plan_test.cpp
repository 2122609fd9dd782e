// Plans for memory PMUs: attempts from most to least demanding, and what is in the way.
#include "record/memory_plan.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "perfdata/format.h"
#include "spe/info.h"
#include "sysfs_fixtures.h"

namespace cacheline::record::test {
namespace {

Permissions root() {
  Permissions permissions;
  permissions.perfEventParanoid = 2;
  permissions.capabilities = {"CAP_PERFMON"};
  return permissions;
}
Permissions user(int64_t paranoid = 2) {
  Permissions permissions;
  permissions.perfEventParanoid = paranoid;
  return permissions;
}
Planned planOn(const SysfsTree& tree, const RecordOptions& options = {},
               const Permissions& permissions = root()) {
  return planMemory(FakeKernel(tree).kernel, options, permissions);
}
/// "what: value" of the only blocker.
std::string blockerOf(const Planned& planned) {
  EXPECT_TRUE(planned.plan.attempts.empty());
  if (planned.blockers.size() != 1) return std::to_string(planned.blockers.size()) + " blockers";
  EXPECT_FALSE(planned.blockers[0].fix.empty());
  return planned.blockers[0].what + ": " + planned.blockers[0].value;
}
const perf_event_attr& firstAttr(const Attempt& attempt) {
  return attempt.events.front().event.attr;
}

TEST(MemoryPlan, AttemptsAskForLessAndLess) {
  const SysfsTree tree(Machine::skylakeSp);
  const Planned planned = planOn(tree, {}, user());
  EXPECT_EQ(planned.plan.collector, "pmu");
  EXPECT_FALSE(planned.plan.wholeMachineOnly);
  ASSERT_EQ(planned.plan.attempts.size(), 4u);
  std::vector<std::string> seen;
  for (const Attempt& attempt : planned.plan.attempts) {
    const perf_event_attr& attr = firstAttr(attempt);
    EXPECT_EQ(attempt.kernel, attr.exclude_kernel == 0);
    EXPECT_EQ(attr.use_clockid, 1u);
    seen.push_back(std::string(attr.exclude_kernel != 0 ? "user" : "kernel") +
                   ((attr.sample_type & PERF_SAMPLE_PHYS_ADDR) != 0 ? " physical" : "") +
                   ((attr.sample_type & PERF_SAMPLE_WEIGHT_STRUCT) != 0 ? " parts" : "") +
                   ((attr.sample_type & PERF_SAMPLE_WEIGHT) != 0 ? " weight" : "") + " " +
                   attempt.events.front().event.name);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"kernel physical parts cpu/mem-loads,ldlat=30/P",
                                            "kernel physical weight cpu/mem-loads,ldlat=30/P",
                                            "user parts cpu/mem-loads,ldlat=30/Pu",
                                            "user weight cpu/mem-loads,ldlat=30/Pu"}));
  EXPECT_TRUE(anyContains(planned.plan.attempts[1].warnings, "Linux 5.12"));
}

TEST(MemoryPlan, ModesAndPhysicalAddresses) {
  const SysfsTree tree(Machine::skylakeSp);
  RecordOptions options;
  options.kernelOnly = true;
  EXPECT_EQ(planOn(tree, options).plan.attempts.size(), 2u);
  options = {};
  options.userOnly = true;
  options.physicalAddresses = true;
  EXPECT_NE(firstAttr(planOn(tree, options).plan.attempts[0]).sample_type & PERF_SAMPLE_PHYS_ADDR, 0u);
  EXPECT_NE(firstAttr(planOn(tree, options, user(1)).plan.attempts[0]).sample_type & PERF_SAMPLE_PHYS_ADDR,
            0u);
  const Attempt without = planOn(tree, options, user()).plan.attempts[0];
  EXPECT_EQ(firstAttr(without).sample_type & PERF_SAMPLE_PHYS_ADDR, 0u);
  EXPECT_TRUE(anyContains(without.warnings, "physical addresses"));
}

TEST(MemoryPlan, PrecisionStartsWhereThePmuSays) {
  SysfsTree tree(Machine::skylakeSp);
  tree.write("cpu/caps/max_precise", "2");
  EXPECT_EQ(firstAttr(planOn(tree).plan.attempts[0]).precise_ip, 2u);
  tree.remove("cpu/caps/max_precise");
  EXPECT_EQ(firstAttr(planOn(tree).plan.attempts[0]).precise_ip, 3u);
  tree.write("cpu/caps/max_precise", "0");
  EXPECT_EQ(blockerOf(planOn(tree)), "PEBS: cpu/caps/max_precise is 0");
}

TEST(MemoryPlan, BranchStacksNeedAPmuThatHasThem) {
  RecordOptions options;
  options.callGraph = CallGraph::branchStack;
  SysfsTree tree(Machine::skylakeSp);
  EXPECT_EQ(planOn(tree, options).plan.attempts.size(), 4u);
  tree.remove("cpu/caps/branches");
  EXPECT_EQ(blockerOf(planOn(tree, options)), "call graph lbr: the PMU cpu keeps no branch stacks");
  EXPECT_EQ(blockerOf(planOn(SysfsTree(Machine::zen4), options)),
            "call graph lbr: AMD IBS keeps no branch stacks");
}

TEST(MemoryPlan, RatesAreClamped) {
  const SysfsTree tree(Machine::sapphireRapids);
  RecordOptions options;
  options.frequencyGiven = true;
  options.frequency = 100'000;
  Permissions permissions = root();
  permissions.maxSampleRate = 3000;
  const Attempt attempt = planOn(tree, options, permissions).plan.attempts[0];
  EXPECT_EQ(attempt.events[1].event.attr.sample_freq, 3000u);
  EXPECT_EQ(attempt.warnings.size(), 1u) << "once for all events";
  EXPECT_TRUE(anyContains(attempt.warnings, "recorded 3000"));
}

TEST(MemoryPlan, HybridEventsStayOnTheirCpus) {
  const Attempt attempt = planOn(SysfsTree(Machine::raptorLake)).plan.attempts[0];
  std::vector<std::string> seen;
  for (const PlannedEvent& event : attempt.events)
    seen.push_back(event.event.name + " on " + std::to_string(event.cpus.at(0)) + " leader " +
                   std::to_string(event.leader));
  EXPECT_EQ(seen, (std::vector<std::string>{
                      "cpu_atom/mem-loads,ldlat=30/P on 1 leader -1", "cpu_atom/mem-stores/P on 1 leader -1",
                      "cpu_core/mem-loads-aux/ on 0 leader -1", "cpu_core/mem-loads,ldlat=30/ on 0 leader 2",
                      "cpu_core/mem-stores/P on 0 leader -1"}));
}

TEST(MemoryPlan, NoMemoryPmu) {
  EXPECT_EQ(blockerOf(planOn(SysfsTree(Machine::guestWithoutPebs))),
            "PEBS: this virtual machine has a PMU, but without the event mem-loads");
  EXPECT_TRUE(contains(blockerOf(planOn(SysfsTree(Machine::power10))), "PowerPC"));
  SysfsTree guest(Machine::guestWithoutPebs);
  guest.remove("cpu");
  EXPECT_TRUE(contains(blockerOf(planOn(guest)), "no memory PMU on this machine (only software under "));
  EXPECT_TRUE(contains(planOn(guest).blockers[0].fix, "virtual machine"));
  SysfsTree arm(Machine::neoverseN1);
  arm.remove("arm_spe_0");
  EXPECT_TRUE(contains(planOn(arm).blockers[0].fix, "arm_spe_pmu"));
  Kernel nothing;
  nothing.sysfs = "/no/such/folder";
  EXPECT_TRUE(contains(blockerOf(planMemory(nothing, {}, root())), "(nothing under /no/such/folder"));
}

TEST(MemoryPlan, SysfsThatCannotBeIsABlocker) {
  SysfsTree tree(Machine::skylakeSp);
  RecordOptions options;
  options.ldlat = 70000;
  EXPECT_EQ(blockerOf(planOn(tree, options)), "memory PMU: ldlat 70000 is more than the PMU cpu takes");
  tree.write("cpu/events/mem-stores", "event=\x01\xff");
  EXPECT_TRUE(contains(blockerOf(planOn(tree)), "cpu/events/mem-stores says 'event="));
  tree.write("cpu/events/mem-stores", "nosuchterm=1");
  EXPECT_TRUE(contains(blockerOf(planOn(tree)), "no term 'nosuchterm'"));
}

TEST(MemoryPlan, IbsNeedsToSeeTheKernelOrAFilter) {
  EXPECT_TRUE(contains(blockerOf(planOn(SysfsTree(Machine::zen4), {}, user())), "CAP_PERFMON: AMD IBS"));
  EXPECT_EQ(planOn(SysfsTree(Machine::zen4), {}, user(1)).plan.attempts.size(), 2u);
  const Planned filtered = planOn(SysfsTree(Machine::zen5), {}, user());
  ASSERT_EQ(filtered.plan.attempts.size(), 4u);
  EXPECT_EQ(firstAttr(filtered.plan.attempts[0]).config2, 0u);
  EXPECT_EQ(firstAttr(filtered.plan.attempts[2]).config2, 1u);
  EXPECT_EQ(filtered.plan.attempts[2].events[0].event.name, "ibs_op//u");
  RecordOptions options;
  options.userOnly = true;
  EXPECT_TRUE(contains(blockerOf(planOn(SysfsTree(Machine::zen4), options)), "cannot leave out"));
  EXPECT_EQ(planOn(SysfsTree(Machine::zen5), options).plan.attempts.size(), 2u);
}

TEST(MemoryPlan, IbsBeforeLinux62SamplesCpus) {
  const SysfsTree tree(Machine::zen2);
  const FakeKernel old(tree, [](const OpenCall& call) { return call.pid >= 0 ? EINVAL : 0; });
  EXPECT_TRUE(planMemory(old.kernel, {}, root()).plan.wholeMachineOnly);
  EXPECT_TRUE(contains(blockerOf(planMemory(old.kernel, {}, user(1))), "before Linux 6.2"));
  RecordOptions system;
  system.target.kind = Target::Kind::system;
  EXPECT_FALSE(planMemory(old.kernel, system, root()).plan.wholeMachineOnly);
  const FakeKernel refusing(tree, [](const OpenCall&) { return EACCES; });
  EXPECT_FALSE(planMemory(refusing.kernel, {}, root()).plan.wholeMachineOnly);
}

TEST(MemoryPlan, Zen3HasNoHitms) {
  const SysfsTree tree(Machine::zen3);
  EXPECT_TRUE(contains(blockerOf(planOn(tree)), "AMD Zen 3: "));
  RecordOptions options;
  options.collector = CollectorChoice::pmu;
  const Planned asked = planOn(tree, options);
  ASSERT_EQ(asked.plan.attempts.size(), 2u);
  EXPECT_TRUE(anyContains(asked.plan.attempts[0].warnings, "0 HITMs here mean nothing"));
  EXPECT_TRUE(planOn(SysfsTree(Machine::zen4)).blockers.empty());
}

TEST(MemoryPlan, IbsLatencyFilter) {
  RecordOptions options;
  EXPECT_TRUE(planOn(SysfsTree(Machine::zen5)).plan.attempts[0].warnings.empty());
  options.ldlat = 200;
  const Attempt filtered = planOn(SysfsTree(Machine::zen5), options).plan.attempts[0];
  EXPECT_EQ(firstAttr(filtered).config1, 200u);
  EXPECT_EQ(filtered.events[0].event.name, "ibs_op/ldlat=200/");
  EXPECT_TRUE(anyContains(filtered.warnings, "L3 cache"));
  const Attempt without = planOn(SysfsTree(Machine::zen4), options).plan.attempts[0];
  EXPECT_EQ(firstAttr(without).config1, 0u);
  EXPECT_TRUE(anyContains(without.warnings, "at every latency"));
  options.ldlat = 50;
  EXPECT_TRUE(
      anyContains(planOn(SysfsTree(Machine::zen5), options).plan.attempts[0].warnings, "128 to 2048"));
  options = {};
  options.period = 1001;
  const Attempt rounded = planOn(SysfsTree(Machine::zen5), options).plan.attempts[0];
  EXPECT_EQ(firstAttr(rounded).sample_period, 1008u);
  EXPECT_TRUE(anyContains(rounded.warnings, "1008"));
}

/// The private words of the record AUXTRACE_INFO.
std::vector<uint64_t> infoWords(const std::vector<uint8_t>& record) {
  perf_event_header header{};
  EXPECT_GE(record.size(), sizeof header + 8);
  std::memcpy(&header, record.data(), sizeof header);
  EXPECT_EQ(header.type, perfdata::kRecordAuxtraceInfo);
  EXPECT_EQ(header.size, record.size());
  std::vector<uint64_t> words(record.size() / 8);
  std::memcpy(words.data(), record.data(), words.size() * 8);
  EXPECT_EQ(words[1], spe::kAuxtraceTypeSpe);
  return {words.begin() + 2, words.end()};
}

TEST(MemoryPlan, SpeOfOneModel) {
  const SysfsTree tree(Machine::neoverseN1);
  const Planned planned = planOn(tree);
  ASSERT_EQ(planned.plan.attempts.size(), 4u);
  const Attempt& attempt = planned.plan.attempts[0];
  ASSERT_EQ(attempt.events.size(), 2u);
  EXPECT_EQ(attempt.events[0].event.name,
            "arm_spe_0/ts_enable=1,pa_enable=1,load_filter=1,store_filter=1,min_latency=30/");
  EXPECT_EQ(attempt.events[0].auxBytes, size_t{4} << 20);
  EXPECT_EQ(attempt.events[0].cpus, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(firstAttr(attempt).use_clockid, 0u);
  EXPECT_EQ(attempt.events[1].event.name, "dummy:u");
  EXPECT_EQ(attempt.events[1].event.attr.context_switch, 1u);
  EXPECT_EQ(attempt.events[1].event.attr.mmap2, 1u);
  const spe::SpeInfo info = spe::readInfo(infoWords(planned.plan.preamble), 0);
  EXPECT_EQ(info.version, 1u);
  EXPECT_EQ(info.pmuType, 9u);

  const Attempt forUsers = planOn(tree, {}, user()).plan.attempts[2];
  EXPECT_EQ(forUsers.events[0].event.name,
            "arm_spe_0/ts_enable=1,load_filter=1,store_filter=1,min_latency=30/u");
  EXPECT_EQ(firstAttr(forUsers).config, 0x600000001u);
  EXPECT_EQ(forUsers.events[0].auxBytes, size_t{128} << 10);
}

TEST(MemoryPlan, SpeOfTwoModels) {
  SysfsTree tree(Machine::neoverseV2);
  tree.write("/devices/system/cpu/cpu1/regs/identification/midr_el1", "0x00000000410fd490");
  const spe::SpeInfo info = spe::readInfo(infoWords(planOn(tree).plan.preamble), 0);
  EXPECT_EQ(info.version, 2u);
  ASSERT_EQ(info.cpus.size(), 2u);
  EXPECT_EQ(info.cpus[0].midr, 0x410fd4f0u);
  EXPECT_EQ(info.cpus[1].midr, 0x410fd490u);
}

TEST(MemoryPlan, SpeTellsWhatItDoesNotDo) {
  RecordOptions options;
  options.frequencyGiven = true;
  options.callGraph = CallGraph::framePointers;
  options.ldlat = 5000;
  const SysfsTree tree(Machine::neoverseN1);
  EXPECT_EQ(blockerOf(planOn(tree, options)),
            "memory PMU: min_latency 5000 is more than the PMU arm_spe_0 takes");
  options.ldlat = 0;
  const Attempt attempt = planOn(tree, options).plan.attempts[0];
  EXPECT_EQ(firstAttr(attempt).sample_period, 1024u);
  EXPECT_EQ(firstAttr(attempt).freq, 0u);
  EXPECT_TRUE(anyContains(attempt.warnings, "not by frequency"));
  EXPECT_TRUE(anyContains(attempt.warnings, "call chains"));
}

TEST(MemoryPlan, RefusalsNameTheEvent) {
  const Planned planned = planOn(SysfsTree(Machine::skylakeSp));
  const Blocker busy = explainMemoryRefusal(EBUSY, planned.plan, root());
  EXPECT_EQ(busy.value, "cpu/mem-loads,ldlat=30/P is refused: EBUSY (Device or resource busy)");
  EXPECT_TRUE(contains(busy.fix, "nmi_watchdog"));
  EXPECT_TRUE(contains(explainMemoryRefusal(EOPNOTSUPP, planned.plan, root()).fix, "virtual machine"));
  EXPECT_EQ(explainMemoryRefusal(EACCES, planned.plan, user(4)).what, "kernel.perf_event_paranoid");
}

}  // namespace
}  // namespace cacheline::record::test
