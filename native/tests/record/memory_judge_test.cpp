// perf itself judges the plans: it reads the same made-up sysfs tree, its perf_event_open goes to a preloaded
// library that writes down the attribute and answers as the machine would, and what it opened is compared
// with what is planned.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>

#include "record/memory_plan.h"
#include "sysfs_fixtures.h"

namespace cacheline::record::test {
namespace {

/// Writes each call as an OpenRecord into $CALLS; $PRECISE is the most precise level that is not EINVAL.
/// Software events and breakpoints go to the kernel.
const char* const kInterposer = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
struct record { struct perf_event_attr attr; int fd, group, errnum; };
long syscall(long number, ...) {
  static long (*real)(long, ...);
  if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  if (number != SYS_perf_event_open) return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  const struct perf_event_attr *asked = (const struct perf_event_attr *)a[0];
  if (asked->type != PERF_TYPE_RAW && asked->type <= PERF_TYPE_BREAKPOINT)
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  struct record record;
  memset(&record, 0, sizeof record);
  memcpy(&record.attr, asked, asked->size < sizeof record.attr ? asked->size : sizeof record.attr);
  record.group = (int)a[3];
  struct perf_event_attr silent = record.attr;
  silent.size = sizeof silent;
  silent.type = PERF_TYPE_SOFTWARE;
  silent.config = PERF_COUNT_SW_DUMMY;
  silent.config1 = silent.config2 = 0;
  silent.precise_ip = 0;
  silent.sample_type &= ~(__u64)PERF_SAMPLE_BRANCH_STACK; // which software events refuse
  silent.branch_sample_type = 0;
  if ((int)record.attr.precise_ip > atoi(getenv("PRECISE"))) {
    record.errnum = errno = EINVAL;
    record.fd = -1;
  } else {
    record.fd = (int)real(number, &silent, a[1], a[2], a[3], a[4], a[5]);
    record.errnum = record.fd < 0 ? errno : 0;
  }
  const int kept = errno;
  FILE *file = fopen(getenv("CALLS"), "a");
  if (file) {
    fwrite(&record, sizeof record, 1, file);
    fclose(file);
  }
  errno = kept;
  return record.fd;
}
)";
struct OpenRecord {
  perf_event_attr attr;
  int fd, group, errnum;
};

// perf adds the bits of its --ldlat to those of the ldlat=3 in events/mem-loads (its pmu_format_value()
// clears none), so that 30 becomes 31; ours are what was asked for.
constexpr uint64_t kLdlatOfEvent = 3;
bool isMemLoads(const perf_event_attr& attr) {
  return attr.config1 != 0 && attr.precise_ip != 0;
}

// Ours has page sizes besides, and the period also where it is constant; perf writes ID where all events are
// alike, we always IDENTIFIER.
constexpr uint64_t kOwnFields = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_PERIOD;

/// What must be equal.
std::string describe(const perf_event_attr& attr, uint32_t precise) {
  std::ostringstream text;
  text << std::hex << "type " << attr.type << " config " << attr.config << " config1 " << attr.config1
       << " config2 " << attr.config2 << " sample_type "
       << (attr.sample_type & ~(kOwnFields | PERF_SAMPLE_ID)) << std::dec
       << (attr.freq != 0 ? " freq " : " period ") << attr.sample_period << " precise " << precise
       << " exclude user " << attr.exclude_user << " kernel " << attr.exclude_kernel << " branches "
       << attr.branch_sample_type << " stack " << attr.sample_stack_user << " callchain "
       << attr.exclude_callchain_user << " inherit " << attr.inherit << " disabled " << attr.disabled
       << " enable_on_exec " << attr.enable_on_exec << " sample_id_all " << attr.sample_id_all;
  return text.str();
}

struct Judged {
  std::string text;
  std::string leader;  ///< text of its group's leader; empty: it leads itself
  perf_event_attr attr{};
};

class MemoryJudge : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!perfIsInstalled() || shell("perf --version").output.find(" 6.1.") == std::string::npos) return;
    folder_ = std::make_unique<TemporaryFolder>();
    compile(*folder_, "interposer.so", kInterposer, "-shared -fPIC");
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override {
    if (!folder_) GTEST_SKIP() << "this test knows perf 6.1 (Debian 12: apt-get install linux-perf)";
  }

  /// perf asks the CPU that it runs on, not sysfs, whose memory events it is to take.
  static bool perfTakesIbs() { return __builtin_cpu_is("amd"); }

  /// What perf opens for `command`, each event once.
  static std::vector<Judged> openedByPerf(const SysfsTree& tree, const std::string& command, int precise) {
    const std::string calls = folder_->file("calls");
    std::filesystem::remove(calls);
    const ShellResult run =
        shell("CALLS=" + calls + " PRECISE=" + std::to_string(precise) +
              " LD_PRELOAD=" + folder_->file("interposer.so") + " SYSFS_PATH=" + tree.root() + " perf " +
              command + " -o " + folder_->file("perf.data") + " -B --no-bpf-event -- true < /dev/null");
    EXPECT_EQ(run.status, 0) << run.output;
    if (!exists(calls)) {
      ADD_FAILURE() << run.output;
      return {};
    }
    const std::string bytes = readFile(calls);
    std::vector<Judged> events;
    std::map<int, std::string> byFd;
    for (size_t at = 0; at + sizeof(OpenRecord) <= bytes.size(); at += sizeof(OpenRecord)) {
      OpenRecord record;
      std::memcpy(&record, bytes.data() + at, sizeof record);
      if (record.errnum != 0) continue;
      const std::string text = describe(record.attr, record.attr.precise_ip);
      byFd[record.fd] = text;
      if (!events.empty() && events.back().text == text) continue;  // on the next CPU
      events.push_back({text, record.group < 0 ? "" : byFd[record.group], record.attr});
    }
    return events;
  }

  /// The same of a plan's most demanding attempt, on a machine that takes `precise`.
  static std::vector<Judged> planned(const SysfsTree& tree, const RecordOptions& options, int precise) {
    Permissions permissions;
    permissions.capabilities = {"CAP_PERFMON"};
    const Planned plan = planMemory(FakeKernel(tree).kernel, options, permissions);
    if (plan.plan.attempts.empty()) {
      ADD_FAILURE() << (plan.blockers.empty() ? "nothing" : plan.blockers.front().value);
      return {};
    }
    std::vector<Judged> events;
    for (const PlannedEvent& each : plan.plan.attempts.front().events) {
      perf_event_attr attr = each.event.attr;
      EXPECT_EQ(attr.precise_ip != 0, each.precisionMayFall);
      if (isMemLoads(attr)) {
        EXPECT_EQ(attr.config1, options.ldlat);
        attr.config1 |= kLdlatOfEvent;
      }
      const uint32_t level = std::min<uint32_t>(attr.precise_ip, static_cast<uint32_t>(precise));
      events.push_back({describe(attr, level),
                        each.leader < 0 ? "" : events[static_cast<size_t>(each.leader)].text, attr});
    }
    return events;
  }

  static void expectEqual(const std::vector<Judged>& ours, const std::vector<Judged>& perfs) {
    ASSERT_EQ(ours.size(), perfs.size());
    for (size_t i = 0; i < ours.size(); i++) {
      EXPECT_EQ(ours[i].text, perfs[i].text);
      EXPECT_EQ(ours[i].leader, perfs[i].leader);
    }
  }

  static inline std::unique_ptr<TemporaryFolder> folder_;
};

struct Variant {
  const char* perf;  ///< options of `perf c2c record`
  std::function<void(RecordOptions&)> set;
};
const std::vector<Variant>& variants() {
  static const std::vector<Variant> all{
      {"", [](RecordOptions&) {}},
      {"-u -F 1000",
       [](RecordOptions& o) {
         o.userOnly = o.frequencyGiven = true;
         o.frequency = 1000;
       }},
      {"-k -c 2000",
       [](RecordOptions& o) {
         o.kernelOnly = true;
         o.period = 2000;
       }},
      {"-l 70 -g",
       [](RecordOptions& o) {
         o.ldlat = 70;
         o.callGraph = CallGraph::framePointers;
       }},
  };
  return all;
}

TEST_F(MemoryJudge, ServersOfIntel) {
  if (perfTakesIbs()) GTEST_SKIP() << "on a CPU of AMD perf knows no other memory events than IBS";
  const SysfsTree skylake(Machine::skylakeSp), iceLake(Machine::iceLakeSp);
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.perf);
    RecordOptions options;
    variant.set(options);
    const auto perfs = openedByPerf(skylake, std::string("c2c record ") + variant.perf, 3);
    ASSERT_EQ(perfs.size(), 2u);
    expectEqual(planned(skylake, options, 3), perfs);
  }
  for (const auto& [name, graph] :
       {std::pair("dwarf", CallGraph::dwarf), std::pair("lbr", CallGraph::branchStack)}) {
    RecordOptions options;
    options.callGraph = graph;
    expectEqual(planned(skylake, options, 3),
                openedByPerf(skylake, std::string("c2c record --call-graph ") + name, 3));
  }
  for (const int precise : {2, 1})
    expectEqual(planned(skylake, {}, precise), openedByPerf(skylake, "c2c record", precise));
  expectEqual(planned(iceLake, {}, 2), openedByPerf(iceLake, "c2c record", 2));
}

/// perf samples a leader mem-loads-aux, too; ours only counts, as its samples are no accesses.
void expectCountingLeader(const Judged& ours, Judged& perfs) {
  EXPECT_EQ(ours.attr.config, 0x8203u);
  EXPECT_EQ(ours.attr.sample_period, 0u);
  EXPECT_GT(perfs.attr.sample_period, 0u);
  perf_event_attr counting = perfs.attr;
  counting.sample_period = 0;
  counting.freq = 0;
  perfs.text = describe(counting, 0);
}

TEST_F(MemoryJudge, SapphireRapidsNeedsAGroup) {
  if (perfTakesIbs()) GTEST_SKIP() << "on a CPU of AMD perf knows no other memory events than IBS";
  const SysfsTree tree(Machine::sapphireRapids);
  for (const Variant& variant : {variants()[0], variants()[2]}) {
    SCOPED_TRACE(variant.perf);
    RecordOptions options;
    variant.set(options);
    auto perfs = openedByPerf(tree, std::string("c2c record ") + variant.perf, 2);
    const auto ours = planned(tree, options, 2);
    ASSERT_EQ(perfs.size(), 3u);
    ASSERT_EQ(ours.size(), 3u);
    EXPECT_EQ(perfs[1].leader, perfs[0].text);
    expectCountingLeader(ours[0], perfs[0]);
    perfs[1].leader = perfs[0].text;
    expectEqual(ours, perfs);
  }
  const ShellResult list = shell("perf evlist -i " + folder_->file("perf.data"));
  EXPECT_TRUE(list.output.starts_with("cpu/mem-loads-aux/\ncpu/mem-loads,ldlat=30/\ncpu/mem-stores/P\n"))
      << list.output;
}

TEST_F(MemoryJudge, HybridCoresHaveEventsOfTheirOwn) {
  if (perfTakesIbs()) GTEST_SKIP() << "on a CPU of AMD perf knows no other memory events than IBS";
  const SysfsTree tree(Machine::raptorLake);
  auto perfs = openedByPerf(tree, "c2c record", 2);
  auto ours = planned(tree, {}, 2);
  ASSERT_EQ(perfs.size(), 5u);
  for (auto* events : {&perfs, &ours})  // perf has all loads before all stores
    std::ranges::stable_sort(*events, {}, [](const Judged& each) { return each.attr.type; });
  expectCountingLeader(ours[0], perfs[0]);
  perfs[1].leader = perfs[0].text;
  expectEqual(ours, perfs);
  // perf has a dummy event for what happens to processes, on every CPU; ours is the first of each kind of
  // core.
  EXPECT_EQ(ours[0].attr.mmap2 & ours[3].attr.mmap2, 1);
  EXPECT_EQ(ours[1].attr.mmap2 | ours[2].attr.mmap2 | ours[4].attr.mmap2, 0);
}

// perf on x86 has no plan of its own for these: it judges how the terms are encoded.
TEST_F(MemoryJudge, IbsAndSpe) {
  struct Case {
    Machine machine;
    const char* perf;
    std::function<void(RecordOptions&)> set;
  };
  const std::vector<Case> cases{
      {Machine::zen2, "-e ibs_op//", [](RecordOptions&) {}},
      {Machine::zen4, "-e ibs_op// -c 100000", [](RecordOptions& o) { o.period = 100000; }},
      {Machine::zen5, "-e ibs_op/ldlat=128/", [](RecordOptions& o) { o.ldlat = 128; }},
      {Machine::zen5, "-e ibs_op/swfilt=1/ --all-user", [](RecordOptions& o) { o.userOnly = true; }},
      {Machine::neoverseN1,
       "-c 1024 -e arm_spe_0/ts_enable=1,pa_enable=1,load_filter=1,store_filter=1,min_latency=30/",
       [](RecordOptions&) {}},
      {Machine::neoverseV2,
       "--all-user -c 5000 -e "
       "arm_spe_0/ts_enable=1,pa_enable=1,load_filter=1,store_filter=1,min_latency=4095/",
       [](RecordOptions& o) {
         o.userOnly = true;
         o.period = 5000;
         o.ldlat = 4095;
       }},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.perf);
    const SysfsTree tree(each.machine);
    RecordOptions options;
    each.set(options);
    const auto perfs =
        openedByPerf(tree, std::string("record -W -d --phys-data --sample-cpu ") + each.perf, 3);
    auto ours = planned(tree, options, 3);
    ASSERT_GE(ours.size(), 1u);
    ours.resize(1);  // SPE's has the dummy event besides
    expectEqual(ours, perfs);
  }
}

}  // namespace
}  // namespace cacheline::record::test
