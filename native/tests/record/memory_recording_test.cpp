// Whole recordings with memory PMUs that are not here: a made-up sysfs, and a kernel that answers as theirs
// would. What they open, what the file says, and trace data of Arm SPE from its AUX area to the report.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "../spe/spe_builder.h"
#include "record/capability.h"
#include "sharing/analyze.h"
#include "sysfs_fixtures.h"

namespace cacheline::record::test {
namespace {

/// As `cacheline record -- true` on that machine.
RecordResult recordOn(const FakeKernel& fake, const TemporaryFolder& folder,
                      const std::function<void(RecordOptions&)>& set = {}) {
  RecordOptions options = optionsFor(folder, {"true"});
  if (set) set(options);
  const std::atomic<bool> stop{false};
  return record(options, stop, {}, fake.kernel);
}

std::vector<std::string> eventNames(const TemporaryFolder& folder) {
  const Recorded recorded(folder.file("out"));
  std::vector<std::string> names;
  for (const perfdata::Event& event : recorded.reader->events()) names.push_back(event.name);
  return names;
}

/// An Intel CPU whose load latency cannot be had at the highest level, and a user who may not sample the
/// kernel.
int unprivilegedOnIntel(const OpenCall& call) {
  if (call.attr.exclude_kernel == 0) return EACCES;
  return call.attr.precise_ip > 2 ? EINVAL : 0;
}

TEST(MemoryRecording, SapphireRapids) {
  const TemporaryFolder folder;
  const SysfsTree tree(Machine::sapphireRapids);
  const FakeKernel fake(tree, [](const OpenCall& call) { return call.attr.precise_ip > 2 ? EINVAL : 0; });
  const RecordResult result = recordOn(fake, folder);
  EXPECT_EQ(result.collector, "pmu");
  EXPECT_EQ(result.exitStatus, 0);
  ASSERT_FALSE(result.notTaken.empty());
  EXPECT_EQ(eventNames(folder),
            (std::vector<std::string>{"cpu/mem-loads-aux/", "cpu/mem-loads,ldlat=30/", "cpu/mem-stores/P"}));
  EXPECT_TRUE(sharing::hasDataSources(*Recorded(folder.file("out")).reader));
  EXPECT_TRUE(contains(readFile(folder.file("out/meta.json")), "\"ldlat\": 30,"));
  for (const OpenCall& call : *fake.calls) EXPECT_EQ(call.group >= 0, call.attr.config == 0x1cd);
  if (!perfIsInstalled()) GTEST_SKIP() << "perf is not installed (Debian: apt-get install linux-perf)";
  const ShellResult list = shell("perf evlist -v -i " + folder.file("out/perf.data"));
  for (const char* part : {"config: 0x8203", "config: 0x1cd", "config1 }: 0x1e", "config: 0x2cd",
                           "precise_ip: 2", "DATA_SRC", "WEIGHT_STRUCT", "PHYS_ADDR", "DATA_PAGE_SIZE"})
    EXPECT_TRUE(contains(list.output, part)) << part << " in " << list.output;
}

TEST(MemoryRecording, AUserGetsTheirOwnSamples) {
  const TemporaryFolder folder;
  const SysfsTree tree(Machine::skylakeSp);
  const FakeKernel fake(tree, unprivilegedOnIntel);
  const RecordResult result = recordOn(fake, folder);
  EXPECT_EQ(result.collector, "pmu");
  EXPECT_EQ(eventNames(folder), (std::vector<std::string>{"cpu/mem-loads,ldlat=30/Pu", "cpu/mem-stores/Pu"}));
  std::vector<unsigned> precise;  // of the loads on the first CPU, user attempts
  for (const OpenCall& call : *fake.calls)
    if (call.attr.exclude_kernel != 0 && call.attr.config == 0x1cd && precise.size() < 2)
      precise.push_back(call.attr.precise_ip);
  EXPECT_EQ(precise, (std::vector<unsigned>{3, 2}));
}

TEST(MemoryRecording, HybridEventsAreOpenedOnTheirCpus) {
  const TemporaryFolder folder;
  const SysfsTree tree(Machine::raptorLake);
  const FakeKernel fake(tree);
  EXPECT_EQ(recordOn(fake, folder).collector, "pmu");
  EXPECT_FALSE(fake.calls->empty());
  for (const OpenCall& call : *fake.calls) EXPECT_EQ(call.cpu, call.attr.type == 10 ? 1 : 0);
}

TEST(MemoryRecording, WhereThePmuIsRefusedTheClockRecordsAndSaysSo) {
  const TemporaryFolder folder;
  const SysfsTree tree(Machine::iceLakeSp);
  const FakeKernel fake(tree, [](const OpenCall&) { return EOPNOTSUPP; });
  const RecordResult result = recordOn(fake, folder);
  EXPECT_EQ(result.collector, "clock");
  ASSERT_FALSE(result.notTaken.empty());
  EXPECT_TRUE(contains(result.notTaken[0].reason, "cpu/mem-loads,ldlat=30/P is refused: EOPNOTSUPP"))
      << result.notTaken[0].reason;
  const TemporaryFolder other;
  try {
    recordOn(fake, other, [](RecordOptions& options) { options.collector = CollectorChoice::pmu; });
    FAIL() << "recorded";
  } catch (const RefusedError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::impossible);
    EXPECT_TRUE(contains(error.what(), "cannot record with the memory PMU")) << error.what();
    EXPECT_TRUE(contains(error.nextStep(), "virtual machine")) << error.nextStep();
  }
}

TEST(MemoryRecording, IbsOfOldKernelsSeesTheWholeMachine) {
  const TemporaryFolder folder;
  const SysfsTree tree(Machine::zen4);
  const FakeKernel fake(tree, [](const OpenCall& call) { return call.pid >= 0 ? EINVAL : 0; });
  Permissions permissions = readPermissions();
  if (!permissions.privileged()) GTEST_SKIP() << "run as root: the whole machine is recorded";
  const RecordResult result = recordOn(fake, folder);
  EXPECT_EQ(result.collector, "pmu");
  EXPECT_TRUE(anyContains(result.warnings, "cannot follow one program"));
  EXPECT_EQ(eventNames(folder), (std::vector<std::string>{"ibs_op//"}));
  EXPECT_EQ(fake.calls->back().pid, -1);
}

/// Two CPUs with an Arm SPE each: on each a thread, at its own word of one line; every fourth access is a
/// store.
class SpeMachine {
 public:
  static constexpr uint64_t kLine = 0x7f0000001040;
  static constexpr unsigned kAccesses = 400;  ///< on each CPU

  SpeMachine() : tree_(Machine::neoverseN1), fake_(tree_) {}
  /// Two models of CPUs, which takes the newer form of the trace's description.
  void mixModels() {
    tree_.write("/devices/system/cpu/cpu1/regs/identification/midr_el1", "0x00000000410fd490");
  }
  const FakeKernel& kernel() {
    fake_.kernel.mapAux = [this](int, const perf_event_mmap_page& control) {
      sizes_.push_back(control.aux_size);
      void* area =
          ::mmap(nullptr, control.aux_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      const std::vector<uint8_t> bytes = trace(static_cast<uint32_t>(sizes_.size() - 1));
      EXPECT_LE(bytes.size(), control.aux_size);
      std::memcpy(area, bytes.data(), bytes.size());
      auto& page = const_cast<perf_event_mmap_page&>(control);
      page.cap_user_time_zero = 1;
      page.cap_user_time_short = 0;
      page.time_shift = 10;
      page.time_mult = 40960;  // 40 ns a tick
      page.time_zero = 1'000'000;
      page.aux_head = bytes.size();
      return area;
    };
    return fake_;
  }
  const std::vector<uint64_t>& sizes() const { return sizes_; }

 private:
  static std::vector<uint8_t> trace(uint32_t cpu) {
    spe::testing::SpeBuilder builder;
    for (uint64_t i = 0; i < kAccesses; i++) {
      builder.pc(0x400100 + 4 * cpu, 0).context(100 + cpu).total(static_cast<uint16_t>(20 + i % 100));
      if (i % 4 == 0)
        builder.store();
      else
        builder.load().dataSource(i % 4 == 1 ? 9 : 0);  // a peer core, the own L1
      builder.virtualAddress(kLine + 8 * cpu).timestamp(1000 + 2 * i + cpu);
    }
    return builder.bytes();
  }

  SysfsTree tree_;
  FakeKernel fake_;
  std::vector<uint64_t> sizes_;
};

TEST(MemoryRecording, SpeTraceComesOutAsItWentIn) {
  const TemporaryFolder folder;
  SpeMachine machine;
  machine.mixModels();
  const RecordResult result = recordOn(machine.kernel(), folder, [](RecordOptions& options) {
    options.target.cpus = {0, 1};
  });
  EXPECT_EQ(result.collector, "pmu");
  EXPECT_FALSE(anyContains(result.warnings, "samples")) << result.warnings[0];
  const size_t cpus = machine.sizes().size();
  EXPECT_EQ(result.samples, cpus * SpeMachine::kAccesses);
  ASSERT_GE(cpus, 1u);
  ASSERT_LE(cpus, 2u);

  const analysis::Recording opened = analysis::openRecording(folder.file("out"));
  const auto reader = perfdata::Reader::open(opened.perfData);
  sharing::Options byPeers;
  byPeers.display = sharing::Display::peer;  // as on Arm; this machine is none
  const analysis::Report report = sharing::analyze(*reader, opened, byPeers);
  EXPECT_EQ(report.samples, cpus * SpeMachine::kAccesses);
  std::map<std::string, uint64_t> stats;
  for (const auto& [name, number] : report.stats) stats[name] = number.value_or(0);
  EXPECT_EQ(stats["stores"], cpus * SpeMachine::kAccesses / 4);
  EXPECT_EQ(stats["loads"], cpus * SpeMachine::kAccesses / 4 * 3);
  EXPECT_EQ(stats["localPeer"] + stats["remotePeer"], cpus * SpeMachine::kAccesses / 4);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].address, SpeMachine::kLine);
  EXPECT_EQ(report.lines[0].accesses.size(), cpus);
}

TEST(MemoryRecording, PerfReadsTheSpeTrace) {
  if (!perfIsInstalled()) GTEST_SKIP() << "perf is not installed (Debian: apt-get install linux-perf)";
  const TemporaryFolder folder;
  SpeMachine machine;
  EXPECT_EQ(recordOn(machine.kernel(), folder).collector, "pmu");
  const size_t cpus = machine.sizes().size();
  const std::string data = folder.file("out/perf.data");
  const ShellResult dump = shell("perf report -D -i " + data + " < /dev/null");
  ASSERT_EQ(dump.status, 0) << dump.output.substr(0, 2000);
  const auto count = [](const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) found++;
    return found;
  };
  EXPECT_EQ(count(dump.output, "PERF_RECORD_AUXTRACE size"), cpus);
  EXPECT_EQ(count(dump.output, " PC 0x400100 el0 ns=1"), SpeMachine::kAccesses);
  EXPECT_EQ(count(dump.output, "Bad packet"), 0u);
  const ShellResult script =
      shell("perf script --itrace=M --ns -F tid,cpu,time,event,ip,addr -i " + data + " < /dev/null");
  ASSERT_EQ(script.status, 0) << script.output.substr(0, 2000);
  EXPECT_EQ(count(script.output, " memory: "), cpus * SpeMachine::kAccesses) << script.output.substr(0, 2000);
  EXPECT_EQ(count(script.output, "7f0000001040"), SpeMachine::kAccesses);
  EXPECT_TRUE(contains(script.output, " 0.001040000: ")) << "1,000 ticks of 40 ns after 1 ms";
}

TEST(MemoryRecording, ATraceBufferThatCannotBeHad) {
  const TemporaryFolder folder;
  const SysfsTree tree(Machine::neoverseV2);
  FakeKernel fake(tree);
  std::vector<uint64_t> sizes;
  fake.kernel.mapAux = [&](int, const perf_event_mmap_page& control) {
    sizes.push_back(control.aux_size);
    errno = EPERM;
    return MAP_FAILED;
  };
  try {
    recordOn(fake, folder, [](RecordOptions& options) { options.collector = CollectorChoice::pmu; });
    FAIL() << "recorded";
  } catch (const RefusedError& error) {
    EXPECT_TRUE(contains(error.what(), "cannot map a trace buffer of CPU 0: EPERM")) << error.what();
    EXPECT_EQ(error.blocker().what, "RLIMIT_MEMLOCK");
  }
  EXPECT_EQ(sizes.back(), size_t{8} << 10);
}

}  // namespace
}  // namespace cacheline::record::test
