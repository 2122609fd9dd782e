// AMD: instruction-based sampling of micro-operations (IBS op). Facts from arch/x86/events/amd/ibs.c of
// Linux.
#include <cerrno>

#include "base/unique_fd.h"
#include "record/memory_vendors.h"

namespace cacheline::record {
namespace {

// What the kernel takes for ldlat, cycles. The filter also drops every load that an L3 cache served, so that
// perf leaves it off unless it is asked for ("perf mem/c2c amd: Add ldlat support", Linux 6.16).
constexpr uint32_t kLeastLdlat = 128, kMostLdlat = 2048;
constexpr uint64_t kPeriodStep = 16;  // the hardware has no lower bits

/// "Not supported on Zen3" (perf-c2c(1)). Family 19h models 00h-0Fh and 20h-5Fh: their IBS does not say
/// whether a line was modified elsewhere.
bool isZen3(const CpuIdentity& cpu) {
  if (cpu.vendor != kVendorAmd || cpu.family != 0x19) return false;
  return cpu.model <= 0x0f || (cpu.model >= 0x20 && cpu.model <= 0x5f);
}

/// 0, or the errno of opening `attr`.
int tryOpen(const Kernel& kernel, const perf_event_attr& attr, pid_t pid, int cpu) {
  const UniqueFd fd(kernel.perfEventOpen(attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
  return fd ? 0 : errno;
}

/// Before Linux 6.2 IBS belongs to CPUs, and the kernel says EINVAL to a process.
bool followsNoProcess(const MemoryRequest& request, const SysfsPmu& ibs) {
  if (request.options.target.kind == Target::Kind::system || !request.kernel.perfEventOpen) return false;
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = ibs.type();
  attr.freq = 1;
  attr.sample_freq = 100;
  attr.sample_type = PERF_SAMPLE_IP;
  attr.disabled = 1;
  return tryOpen(request.kernel, attr, 0, -1) == EINVAL && tryOpen(request.kernel, attr, -1, 0) != EINVAL;
}

std::vector<Blocker> blockersOf(const MemoryRequest& request, const SysfsPmu& ibs, bool wholeMachineOnly) {
  std::vector<Blocker> blockers;
  if (isZen3(cpuIdentity(request.kernel.sysfs)) && request.options.collector != CollectorChoice::pmu)
    blockers.push_back(
        {"AMD Zen 3", "its IBS never says that a line was modified in another cache (HITM)",
         "Use the clock collector, or `--collector pmu` for addresses and latencies without HITMs"});
  if (request.options.callGraph == CallGraph::branchStack)
    blockers.push_back(
        {"call graph lbr", "AMD IBS keeps no branch stacks", "Ask for --call-graph fp or dwarf"});
  const bool filters = ibs.hasTerm("swfilt");
  if (!filters && !mayProfileKernel(request.permissions))
    blockers.push_back(
        {"CAP_PERFMON", "AMD IBS samples user and kernel code alike, and this user may see only user code",
         "Run as root or with CAP_PERFMON, or: sudo sysctl kernel.perf_event_paranoid=1; Linux 6.14 "
         "and newer filter by itself"});
  if (!filters && (request.options.userOnly || request.options.kernelOnly))
    blockers.push_back({"kernel version", "this kernel's IBS cannot leave out user or kernel samples",
                        "Record both, or use Linux 6.14 or newer"});
  if (wholeMachineOnly && !request.permissions.privileged() &&
      request.permissions.perfEventParanoid.value_or(2) > 0)
    blockers.push_back({"kernel version",
                        "before Linux 6.2 IBS samples whole CPUs only, which needs CAP_PERFMON",
                        "Use Linux 6.2 or newer, run as root, or: sudo sysctl kernel.perf_event_paranoid=0"});
  return blockers;
}

bool filtersLatency(const MemoryRequest& request, const SysfsPmu& ibs) {
  const uint32_t ldlat = request.options.ldlat;
  return ldlat >= kLeastLdlat && ldlat <= kMostLdlat && ibs.hasTerm("ldlat");
}

Attempt attemptOf(const MemoryRequest& request, const SysfsPmu& ibs, const MemoryStep& step) {
  Attempt attempt;
  attempt.kernel = step.kernel;
  PlannedEvent event;
  perf_event_attr& attr = event.event.attr;
  attr = memoryAttr(request, step, attempt.warnings);
  attr.type = ibs.type();
  if (attr.freq == 0 && attr.sample_period % kPeriodStep != 0) {
    attr.sample_period += kPeriodStep - attr.sample_period % kPeriodStep;
    attempt.warnings.push_back("AMD IBS takes periods in steps of 16: recorded with " +
                               std::to_string(attr.sample_period));
  }
  std::vector<EventTerm> terms;
  std::string named;
  const uint32_t ldlat = request.options.ldlat;
  if (filtersLatency(request, ibs)) {
    terms.push_back({"ldlat", ldlat});
    named = "ldlat=" + std::to_string(ldlat);
    attempt.warnings.push_back(
        "AMD's latency filter also drops the loads that an L3 cache served: HITMs within "
        "a core complex are not seen");
  } else if (ldlat != RecordOptions{}.ldlat) {
    attempt.warnings.push_back(
        "loads are sampled at every latency: " +
        (ibs.hasTerm("ldlat")
             ? "AMD IBS filters by 128 to 2048 cycles, not by " + std::to_string(ldlat)
             : std::string("this CPU or kernel has no latency filter for AMD IBS (Zen 5, Linux 6.15)")));
  }
  if (attr.exclude_kernel != 0 || attr.exclude_user != 0) terms.push_back({"swfilt", 1});
  EventWords words{};
  ibs.encode(terms, words);
  setEventWords(attr, words);
  trackProcesses(attr);
  event.event.name = ibs.name() + "/" + named + "/" + (step.kernel || request.options.userOnly ? "" : "u");
  event.cpus = ibs.cpus();
  attempt.events.push_back(std::move(event));
  for (std::string& warning : stepWarnings(request, step)) attempt.warnings.push_back(std::move(warning));
  if (isZen3(cpuIdentity(request.kernel.sysfs)))
    attempt.warnings.push_back(
        "AMD Zen 3 never says that a line was modified in another cache: 0 HITMs here mean "
        "nothing");
  return attempt;
}

}  // namespace

Planned planAmd(const MemoryRequest& request, const SysfsPmu& ibs) {
  Planned planned;
  planned.plan.wholeMachineOnly = followsNoProcess(request, ibs);
  if (filtersLatency(request, ibs)) planned.plan.ldlat = request.options.ldlat;
  planned.blockers = blockersOf(request, ibs, planned.plan.wholeMachineOnly);
  if (!planned.blockers.empty()) return planned;
  for (const MemoryStep& step : memorySteps(request))
    if (step.kernel || ibs.hasTerm("swfilt")) planned.plan.attempts.push_back(attemptOf(request, ibs, step));
  return planned;
}

}  // namespace cacheline::record
