// The choice between the vendors' memory PMUs, and what their plans share.
#include "record/memory_plan.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>

#include "base/error.h"
#include "record/clock_plan.h"
#include "record/memory_vendors.h"
#include "record/procfs.h"

namespace cacheline::record {
namespace {

// X86_FEATURE_HYPERVISOR, word 4 bit 31, as modalias lists features.
constexpr const char* kHypervisorFeature = ",009F";

/// The hexadecimal number after `key`.
std::optional<uint32_t> hexAfter(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + std::min<size_t>(text.size(), 4), value, 16);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

/// Why no PMU samples memory accesses here.
Blocker absence(const std::string& sysfs, const std::vector<SysfsPmu>& pmus) {
  const CpuIdentity cpu = cpuIdentity(sysfs);
  std::vector<std::string> names;
  for (const SysfsPmu& pmu : pmus) names.push_back(pmu.name());
  const auto core = std::ranges::find_if(
      pmus, [](const SysfsPmu& pmu) { return pmu.name() == "cpu" || pmu.name() == "cpu_core"; });
  if (core != pmus.end() && core->hasEvent("mem-loads"))
    return {"memory PMU", "the mem-loads event of " + core->name() + " takes no latency (PowerPC)",
            "This version reads recordings of such machines and does not make them: use `perf c2c record`"};
  const std::string none = "no memory PMU on this machine (" +
                           (names.empty() ? "nothing" : "only " + join(names, ", ")) + " under " + sysfs +
                           "/bus/event_source/devices)";
  if (cpu.guest && core != pmus.end() && cpu.vendor != kVendorAmd)
    return {
        "PEBS", "this virtual machine has a PMU, but without the event mem-loads",
        "Record on the host or on bare metal, or give the guest PEBS: KVM of Linux 6.0 or newer on Ice Lake "
        "or newer servers, with the host's CPU model"};
  if (cpu.guest)
    return {"memory PMU", none,
            cpu.vendor == kVendorAmd
                ? "Hypervisors do not hand AMD's IBS to guests: record on the host or on bare metal"
                : "Nothing in this virtual machine adds it: record on the host or on bare metal, or let the "
                  "hypervisor give the guest a PMU with PEBS"};
  if (cpu.vendor == kVendorAmd)
    return {"memory PMU", none,
            "Switch IBS on in the firmware's CPU settings, or use a kernel built with "
            "CONFIG_PERF_EVENTS_AMD_UNCORE "
            "and CONFIG_CPU_SUP_AMD"};
  if (cpu.architecture == "aarch64")
    return {
        "memory PMU", none,
        "Arm SPE is for bare metal (virtual machines do not get it) and for firmware that describes it: try "
        "`sudo modprobe arm_spe_pmu`, and boot with kpti=off where the kernel log asks for it"};
  return {"memory PMU", none,
          "Record on a machine whose CPU samples memory accesses (Intel PEBS, AMD IBS, Arm SPE)"};
}

Planned planFor(const MemoryRequest& request) {
  const std::vector<SysfsPmu> pmus = SysfsPmu::all(request.kernel.sysfs);
  std::vector<SysfsPmu> intel, arm;
  for (const SysfsPmu& pmu : pmus) {
    if (pmu.hasEvent("mem-loads") && pmu.hasTerm("ldlat")) intel.push_back(pmu);
    if (pmu.name().starts_with("arm_spe_")) arm.push_back(pmu);
  }
  if (!intel.empty()) return planIntel(request, intel);
  if (const auto ibs = SysfsPmu::find(request.kernel.sysfs, "ibs_op")) return planAmd(request, *ibs);
  if (!arm.empty()) return planArm(request, arm);
  return {{}, {absence(request.kernel.sysfs, pmus)}};
}

}  // namespace

CpuIdentity cpuIdentity(const std::string& sysfs) {
  CpuIdentity cpu;
  const std::string text = readText(sysfs + "/devices/system/cpu/modalias").value_or("");
  constexpr std::string_view kType = "cpu:type:";
  if (!text.starts_with(kType)) return cpu;
  const size_t end = text.find_first_of(",:", kType.size());
  cpu.architecture = text.substr(kType.size(), end == std::string::npos ? end : end - kType.size());
  cpu.vendor = hexAfter(text, ",ven").value_or(UINT32_MAX);
  cpu.family = hexAfter(text, "fam").value_or(0);
  cpu.model = hexAfter(text, "mod").value_or(0);
  cpu.guest = text.find(kHypervisorFeature) != std::string::npos;
  return cpu;
}

bool mayProfileKernel(const Permissions& permissions) {
  return permissions.privileged() || permissions.perfEventParanoid.value_or(2) <= 1;
}

std::vector<MemoryStep> memorySteps(const MemoryRequest& request) {
  std::vector<MemoryStep> steps;
  for (const bool kernel : {true, false}) {
    if (kernel ? request.options.userOnly : request.options.kernelOnly) continue;
    // The kernel shows physical addresses to whom it lets sample in it.
    const bool physical = kernel || (request.options.userOnly && mayProfileKernel(request.permissions));
    for (const bool modern : {true, false}) steps.push_back({kernel, physical, modern});
  }
  return steps;
}

perf_event_attr memoryAttr(const MemoryRequest& request, const MemoryStep& step,
                           std::vector<std::string>& warnings) {
  const RecordOptions& options = request.options;
  perf_event_attr attr{};
  attr.size = sizeof attr;
  if (options.period != 0) {
    attr.sample_period = options.period;
  } else {
    attr.freq = 1;
    attr.sample_freq = allowedFrequency(options.frequencyGiven ? options.frequency : kMemoryFrequency,
                                        request.permissions, warnings);
  }
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_DATA_SRC;
  attr.sample_type |=
      step.modern ? PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_PAGE_SIZE : PERF_SAMPLE_WEIGHT;
  if (step.physical) attr.sample_type |= PERF_SAMPLE_PHYS_ADDR;
  addCallGraph(attr, options.callGraph);
  attr.exclude_kernel = step.kernel ? 0 : 1;
  attr.exclude_user = options.kernelOnly ? 1 : 0;
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  attr.inherit = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;  // with wakeup_watermark 0 the kernel takes half the ring
  return attr;
}

void trackProcesses(perf_event_attr& attr) {
  attr.mmap = attr.mmap2 = attr.mmap_data = 1;
  attr.comm = attr.comm_exec = 1;
  attr.task = 1;
}

std::vector<std::string> stepWarnings(const MemoryRequest& request, const MemoryStep& step) {
  std::vector<std::string> warnings;
  if (request.options.physicalAddresses && !step.physical)
    warnings.push_back(
        "physical addresses were not recorded: the kernel shows them only with CAP_PERFMON, or with "
        "kernel.perf_event_paranoid of 1 or less");
  if (!step.modern)
    warnings.push_back("this kernel is older than Linux 5.12: parts of latencies and page sizes are unknown");
  return warnings;
}

Planned planMemory(const Kernel& kernel, const RecordOptions& options, const Permissions& permissions) {
  Planned planned;
  try {
    planned = planFor({kernel, options, permissions});
  } catch (const Error& error) {
    planned.blockers.push_back({"memory PMU", error.what(), error.nextStep()});
  }
  planned.plan.collector = "pmu";
  if (!planned.blockers.empty()) planned.plan.attempts.clear();
  return planned;
}

Blocker explainMemoryRefusal(int errnum, const EventPlan& plan, const Permissions& permissions) {
  const std::string event = plan.attempts.empty() || plan.attempts.front().events.empty()
                                ? ""
                                : plan.attempts.front().events.front().event.name;
  const std::string refused = event + " is refused: " + errnoText(errnum);
  switch (errnum) {
    case EBUSY:
    case ENOSPC:
      return {"memory PMU", refused,
              "Stop whatever else holds the counters: another perf, a virtual machine that was given the "
              "PMU, or the "
              "NMI watchdog (sudo sysctl kernel.nmi_watchdog=0)"};
    case EINVAL:
    case ENODEV:
    case ENOENT:
    case ENODATA:
    case EOPNOTSUPP:
      return {
          "memory PMU", refused,
          "The kernel offers the PMU but does not sample with it: in a virtual machine, record on the host; "
          "otherwise try a newer kernel"};
    default: {
      Blocker blocker = explainRefusal(errnum, permissions);
      blocker.value = refused + "; " + blocker.value;
      return blocker;
    }
  }
}

}  // namespace cacheline::record
