// Host description from uname, sysconf, /proc and /sys.
#include "record/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>

#include "record/pmu.h"
#include "record/procfs.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cacheline::record {
namespace {

const std::string kCpuFolder = "/sys/devices/system/cpu";
const std::string kNodeFolder = "/sys/devices/system/node";
constexpr uint32_t kUsualLineSize = 64;

std::string topologyFile(uint32_t cpu, const std::string& name) {
  return kCpuFolder + "/cpu" + std::to_string(cpu) + "/topology/" + name;
}

/// "VENDOR-FAMILY-MODEL-STEPPING", on Arm "0x00000000413fd0c1", as perf names CPUs.
std::string cpuIdOf(const std::string& cpuInfo) {
  const std::string vendor = fieldOf(cpuInfo, "vendor_id");
  if (vendor.empty())  // Arm has none: its register MIDR_EL1 names the model
    return readText(kCpuFolder + "/cpu0/regs/identification/midr_el1").value_or("");
  return join(
      {vendor, fieldOf(cpuInfo, "cpu family"), fieldOf(cpuInfo, "model"), fieldOf(cpuInfo, "stepping")}, "-");
}

/// The different CPU lists of a topology file over all CPUs, in the order of their first CPU. The kernel
/// before 5.x has only the second name.
std::vector<std::string> siblingLists(uint32_t cpus, const char* name, const char* olderName) {
  std::vector<std::string> lists;
  for (uint32_t cpu = 0; cpu < cpus; cpu++) {
    std::optional<std::string> list = readText(topologyFile(cpu, name));
    if (!list) list = readText(topologyFile(cpu, olderName));
    if (list && std::find(lists.begin(), lists.end(), *list) == lists.end()) lists.push_back(*list);
  }
  return lists;
}

void describeTopology(perfdata::Features& features) {
  const uint32_t cpus = features.cpusAvailable;
  features.coreSiblings = siblingLists(cpus, "package_cpus_list", "core_siblings_list");
  features.dieSiblings = siblingLists(cpus, "die_cpus_list", "die_cpus_list");
  features.threadSiblings = siblingLists(cpus, "core_cpus_list", "thread_siblings_list");
  for (uint32_t cpu = 0; cpu < cpus; cpu++) {
    const auto placeOf = [cpu](const char* name) {
      return static_cast<int32_t>(readNumber(topologyFile(cpu, name)).value_or(-1));
    };
    features.cpuPlaces.push_back({placeOf("core_id"), placeOf("physical_package_id"), placeOf("die_id")});
  }
}

uint64_t kilobytes(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 10);
}

void describeNumaNodes(perfdata::Features& features) {
  for (const std::string& name : listDirectory(kNodeFolder)) {
    if (!name.starts_with("node") || name.size() == 4 ||
        name.find_first_not_of("0123456789", 4) != std::string::npos)
      continue;
    const std::string folder = kNodeFolder + "/" + name, key = "Node " + name.substr(4);
    const std::string memory = readText(folder + "/meminfo").value_or("");
    features.numaNodes.push_back({static_cast<uint32_t>(std::strtoul(name.c_str() + 4, nullptr, 10)),
                                  kilobytes(fieldOf(memory, key + " MemTotal")),
                                  kilobytes(fieldOf(memory, key + " MemFree")),
                                  readText(folder + "/cpulist").value_or("")});
  }
  std::sort(features.numaNodes.begin(), features.numaNodes.end(),
            [](const auto& a, const auto& b) { return a.node < b.node; });
}

}  // namespace

perfdata::Features describeMachine() {
  perfdata::Features features;
  utsname names{};
  if (::uname(&names) == 0) {
    features.hostname = names.nodename;
    features.osRelease = names.release;
    features.arch = names.machine;
  }
  features.version = std::string("cacheline-lens ") + CACHELINE_VERSION;
  const std::string cpuInfo = readText("/proc/cpuinfo").value_or("");
  features.cpuDesc = fieldOf(cpuInfo, "model name");
  features.cpuId = cpuIdOf(cpuInfo);
  const std::vector<uint32_t> present = parseCpuList(readText(kCpuFolder + "/present").value_or(""));
  features.cpusOnline = static_cast<uint32_t>(onlineCpus().size());
  features.cpusAvailable = present.empty() ? features.cpusOnline : present.back() + 1;
  features.totalMemKb = kilobytes(fieldOf(readText("/proc/meminfo").value_or(""), "MemTotal"));
  describeTopology(features);
  describeNumaNodes(features);
  for (const Pmu& pmu : listPmus()) features.pmuMappings.emplace_back(pmu.type, pmu.name);
  timespec resolution{};
  if (::clock_getres(CLOCK_MONOTONIC, &resolution) == 0)
    features.clockResolutionNs =
        static_cast<uint64_t>(resolution.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(resolution.tv_nsec);
  return features;
}

std::vector<uint32_t> onlineCpus() {
  std::vector<uint32_t> cpus = parseCpuList(readText(kCpuFolder + "/online").value_or(""));
  if (cpus.empty())  // no /sys: the numbers are then mostly dense
    for (long cpu = 0; cpu < ::sysconf(_SC_NPROCESSORS_ONLN); cpu++)
      cpus.push_back(static_cast<uint32_t>(cpu));
  return cpus;
}

uint32_t cacheLineSize() {
  const int64_t size = readNumber(kCpuFolder + "/cpu0/cache/index0/coherency_line_size").value_or(0);
  return size > 0 ? static_cast<uint32_t>(size) : kUsualLineSize;
}

std::string hypervisorName() {
  static const std::map<std::string, std::string> kSignatures{
      {"KVMKVMKVM", "KVM"},     {"Microsoft Hv", "Hyper-V"},   {"VMwareVMware", "VMware"},
      {"XenVMMXenVMM", "Xen"},  {"TCGTCGTCGTCG", "QEMU"},      {"bhyve bhyve ", "bhyve"},
      {"ACRNACRNACRN", "ACRN"}, {"prl hyperv  ", "Parallels"}, {"VBoxVBoxVBox", "VirtualBox"}};
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 31 & 1) == 0) return {};
  // CPUID leaf 0x40000000: the hypervisor's signature in EBX, ECX, EDX.
  __cpuid(0x40000000, a, b, c, d);
  const std::array<unsigned, 3> words{b, c, d};
  char signature[sizeof words + 1] = {};
  std::memcpy(signature, words.data(), sizeof words);
  if (const auto known = kSignatures.find(signature); known != kSignatures.end()) return known->second;
#endif
  if (const auto type = readText("/sys/hypervisor/type"); type && !type->empty()) return *type;
  const std::string vendor = readText("/sys/class/dmi/id/sys_vendor").value_or("");
  if (vendor.find("QEMU") != std::string::npos) return "QEMU";
#if defined(__x86_64__)
  return "unknown";
#else
  return {};
#endif
}

std::string containerName() {
  if (::access("/.dockerenv", F_OK) == 0) return "docker";
  if (::access("/run/.containerenv", F_OK) == 0) return "podman";
  if (const auto name = readText("/run/systemd/container")) return *name;
  return {};
}

std::string kernelBuildId() {
  const std::string notes = readText("/sys/kernel/notes").value_or("");
  constexpr uint32_t kBuildIdNote = 3;  // NT_GNU_BUILD_ID
  const auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
  for (size_t at = 0; at + 12 <= notes.size();) {
    std::array<uint32_t, 3> header;  // name size, description size, type
    std::memcpy(header.data(), notes.data() + at, sizeof header);
    const uint64_t name = at + 12, description = name + padded(header[0]);
    const uint64_t next = description + padded(header[1]);
    if (next > notes.size()) break;
    if (header[2] == kBuildIdNote && header[0] == 4 && notes.compare(name, 4, std::string("GNU\0", 4)) == 0) {
      std::string hex;
      for (size_t i = 0; i < header[1]; i++) {
        const uint8_t byte = static_cast<uint8_t>(notes[description + i]);
        hex += "0123456789abcdef"[byte >> 4];
        hex += "0123456789abcdef"[byte & 15];
      }
      return hex;
    }
    at = next;
  }
  return {};
}

}  // namespace cacheline::record
