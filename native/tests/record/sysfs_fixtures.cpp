// The trees as tables: a line a file, its path and its text. Sources: arch/x86/events/intel/core.c (the
// *_attrs and EVENT_ATTR_STR lines), arch/x86/events/amd/ibs.c and drivers/perf/arm_spe_pmu.c of Linux 6.15;
// CPU numbers from the models' CPUID and MIDR. PMU types, numbers of CPUs and min_interval are made up.
#include "sysfs_fixtures.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <sstream>

namespace cacheline::record::test {
namespace {

constexpr const char* kIntelFormat = R"(
PMU/format/event config:0-7
PMU/format/umask config:8-15
PMU/format/edge config:18
PMU/format/pc config:19
PMU/format/inv config:23
PMU/format/cmask config:24-31
PMU/format/offcore_rsp config1:0-63
PMU/format/ldlat config1:0-15
PMU/caps/branches 32
PMU/caps/max_precise 3
PMU/events/cpu-cycles event=0x3c
PMU/events/mem-loads event=0xcd,umask=0x1,ldlat=3
)";
constexpr const char* kOldStores = "PMU/events/mem-stores event=0xd0,umask=0x82\n";
constexpr const char* kNewStores = R"(
PMU/events/mem-stores event=0xcd,umask=0x2
PMU/events/mem-loads-aux event=0x03,umask=0x82
)";
constexpr const char* kAtomEvents = R"(
PMU/events/mem-loads event=0xd0,umask=0x5,ldlat=3
PMU/events/mem-stores event=0xd0,umask=0x6
)";
constexpr const char* kAmd = R"(
cpu/type 4
cpu/format/event config:0-7,32-35
cpu/format/umask config:8-15
cpu/events/cpu-cycles event=0x76
ibs_fetch/type 10
ibs_fetch/format/rand_en config:57
ibs_op/type 11
ibs_op/format/cnt_ctl config:19
)";
constexpr const char* kZen4Ibs = R"(
ibs_op/format/l3missonly config:16
ibs_op/caps/zen4_ibs_extensions 1
)";
constexpr const char* kZen5Ibs = R"(
ibs_op/format/swfilt config2:0
ibs_op/format/ldlat config1:0-11
ibs_op/caps/ldlat 1
ibs_op/caps/dtlb_pgsize 1
)";
constexpr const char* kSpe = R"(
arm_spe_0/type 9
arm_spe_0/cpumask 0-1
arm_spe_0/caps/arch_inst 0
arm_spe_0/caps/count_size 12
arm_spe_0/caps/ernd 0
arm_spe_0/caps/min_interval 1024
arm_spe_0/format/ts_enable config:0
arm_spe_0/format/pa_enable config:1
arm_spe_0/format/pct_enable config:2
arm_spe_0/format/jitter config:16
arm_spe_0/format/branch_filter config:32
arm_spe_0/format/load_filter config:33
arm_spe_0/format/store_filter config:34
arm_spe_0/format/event_filter config1:0-63
arm_spe_0/format/min_latency config2:0-11
/devices/system/cpu/modalias cpu:type:aarch64:feature:,0000,0001,0002,0003
)";

std::string named(std::string table, const std::string& pmu) {
  for (size_t at = 0; (at = table.find("PMU/", at)) != std::string::npos;) table.replace(at, 3, pmu);
  return table;
}

std::string x86(unsigned vendor, unsigned family, unsigned model, bool guest = false) {
  char text[120];
  std::snprintf(text, sizeof text,
                "/devices/system/cpu/modalias cpu:type:x86,ven%04Xfam%04Xmod%04X:feature:,0000,0001%s,00A0\n",
                vendor, family, model, guest ? ",009F" : "");
  return text;
}

std::string arm(const std::string& midr) {
  std::string text;
  for (const char* cpu : {"cpu0", "cpu1"})
    text += std::string("/devices/system/cpu/") + cpu + "/regs/identification/midr_el1 " + midr + "\n";
  return text;
}

std::string intel(const std::string& stores, unsigned model) {
  return "cpu/type 4\n" + named(kIntelFormat, "cpu") + named(stores, "cpu") + x86(0, 6, model);
}

std::string tableOf(Machine machine) {
  switch (machine) {
    case Machine::skylakeSp:
      return intel(kOldStores, 0x55) + "cpu/caps/pmu_name skylake\n";
    case Machine::iceLakeSp:
      return intel(kOldStores, 0x6a) + "cpu/caps/pmu_name icelake\n";
    case Machine::sapphireRapids:
      return intel(kNewStores, 0x8f) + "cpu/caps/pmu_name sapphire_rapids\n";
    case Machine::raptorLake:
      return "cpu_core/type 4\ncpu_core/cpus 0\n" + named(kIntelFormat, "cpu_core") +
             named(kNewStores, "cpu_core") + "cpu_atom/type 10\ncpu_atom/cpus 1\n" +
             named(kIntelFormat, "cpu_atom") + named(kAtomEvents, "cpu_atom") +
             "cpu_core/caps/pmu_name alderlake_hybrid\ncpu_atom/caps/pmu_name alderlake_hybrid\n" +
             x86(0, 6, 0xb7);
    case Machine::zen2:
      return kAmd + x86(2, 0x17, 0x31);
    case Machine::zen3:
      return kAmd + x86(2, 0x19, 0x01);
    case Machine::zen4:
      return std::string(kAmd) + kZen4Ibs + x86(2, 0x19, 0x11);
    case Machine::zen5:
      return std::string(kAmd) + kZen4Ibs + kZen5Ibs + x86(2, 0x1a, 0x02);
    case Machine::neoverseN1:
      return kSpe + arm("0x00000000413fd0c1");
    case Machine::neoverseV2:
      return std::string(kSpe) +
             "arm_spe_0/format/inv_event_filter config3:0-63\narm_spe_0/format/discard config:35\n" +
             arm("0x00000000410fd4f0");
    case Machine::guestWithoutPebs:
      return "cpu/type 4\ncpu/caps/max_precise 0\ncpu/format/event config:0-7\ncpu/events/cpu-cycles "
             "event=0x3c\n" +
             x86(0, 6, 0x55, true);
    case Machine::power10:
      return "cpu/type 4\ncpu/format/event config:0-59\ncpu/events/mem-loads event=0x35340401e0\n";
  }
  return {};
}

}  // namespace

SysfsTree::SysfsTree(Machine machine) {
  write("software/type", "1");
  write("/devices/system/cpu/online", "0-1");
  std::istringstream table(tableOf(machine));
  for (std::string line; std::getline(table, line);) {
    const size_t space = line.find(' ');
    if (space != std::string::npos) write(line.substr(0, space), line.substr(space + 1));
  }
}

std::string SysfsTree::place(const std::string& path) const {
  return path.front() == '/' ? root() + path : root() + "/bus/event_source/devices/" + path;
}

void SysfsTree::write(const std::string& path, const std::string& text) {
  const std::filesystem::path file = place(path);
  std::filesystem::create_directories(file.parent_path());
  writeFile(file, text + "\n");
  // perf looks for a PMU's events under devices/PMU, too.
  if (path.front() == '/') return;
  const std::string pmu = path.substr(0, path.find('/'));
  const std::filesystem::path link = root() + "/devices/" + pmu;
  if (!std::filesystem::is_symlink(link)) {
    std::filesystem::create_directories(link.parent_path());
    std::filesystem::create_directory_symlink("../bus/event_source/devices/" + pmu, link);
  }
}

void SysfsTree::remove(const std::string& path) {
  std::filesystem::remove_all(place(path));
}

FakeKernel::FakeKernel(const SysfsTree& tree, std::function<int(const OpenCall&)> answer) {
  kernel.sysfs = tree.root();
  kernel.perfEventOpen = [calls = calls, answer = std::move(answer)](const perf_event_attr& attr, pid_t pid,
                                                                     int cpu, int group,
                                                                     unsigned long flags) {
    if (attr.type == PERF_TYPE_SOFTWARE)
      return static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, cpu, group, flags));
    OpenCall call{attr, pid, cpu, group, flags, 0};
    call.errnum = answer ? answer(call) : 0;
    calls->push_back(call);
    if (call.errnum != 0) {
      errno = call.errnum;
      return -1;
    }
    perf_event_attr silent = attr;
    silent.type = PERF_TYPE_SOFTWARE;
    silent.config = PERF_COUNT_SW_DUMMY;
    silent.config1 = silent.config2 = 0;
    silent.precise_ip = 0;
    return static_cast<int>(::syscall(SYS_perf_event_open, &silent, pid, cpu, group, flags));
  };
}

}  // namespace cacheline::record::test
