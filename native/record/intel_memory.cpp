// Intel: load latency and precise stores through PEBS, one set of events for each kind of core.
#include <algorithm>

#include "record/memory_vendors.h"

namespace cacheline::record {
namespace {

constexpr int64_t kMostPrecise = 3;
// As `perf record --call-graph lbr`: the CPU keeps the user's calls in its last branch records.
constexpr uint64_t kCallStack = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
                                PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES |
                                PERF_SAMPLE_BRANCH_HW_INDEX;

/// Appends the events of one PMU.
void addEvents(const MemoryRequest& request, const MemoryStep& step, const SysfsPmu& pmu, int64_t precise,
               Attempt& attempt) {
  std::vector<std::string> repeated;  // the frequency's warning, once for all events
  perf_event_attr attr = memoryAttr(request, step, attempt.events.empty() ? attempt.warnings : repeated);
  attr.type = pmu.type();
  if (request.options.callGraph == CallGraph::branchStack) {
    attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    attr.branch_sample_type = kCallStack;
  }
  attr.precise_ip = static_cast<uint32_t>(precise) & 3;
  // Names as `perf c2c record` gives them; u where the kernel is left out without being asked.
  const std::string user = step.kernel || request.options.userOnly ? "" : "u";
  const std::string loadsName = "mem-loads,ldlat=" + std::to_string(request.options.ldlat) + "/";
  const auto add = [&](const perf_event_attr& of, const EventWords& words, const std::string& name) {
    PlannedEvent event;
    event.event.attr = of;
    setEventWords(event.event.attr, words);
    event.event.name = pmu.name() + "/" + name;
    event.cpus = pmu.cpus();
    event.precisionMayFall = of.precise_ip != 0;
    attempt.events.push_back(std::move(event));
    return static_cast<int>(attempt.events.size()) - 1;
  };

  const EventWords loads = pmu.event("mem-loads", {{"ldlat", request.options.ldlat}});
  if (pmu.hasEvent("mem-loads-aux")) {
    // The kernel wants this event in front of the loads, in one group, so that their data sources are
    // complete. It only counts: its own samples are no accesses.
    perf_event_attr aux = attr;
    aux.freq = 0;
    aux.sample_period = 0;
    aux.precise_ip = 0;
    trackProcesses(aux);
    const int leader = add(aux, pmu.event("mem-loads-aux"), "mem-loads-aux/");
    perf_event_attr member = attr;
    member.disabled = member.enable_on_exec = 0;  // its leader's say
    attempt.events[static_cast<size_t>(add(member, loads, loadsName + user))].leader = leader;
  } else {
    perf_event_attr first = attr;
    trackProcesses(first);
    add(first, loads, loadsName + "P" + user);
  }
  if (pmu.hasEvent("mem-stores")) add(attr, pmu.event("mem-stores"), "mem-stores/P" + user);
}

}  // namespace

Planned planIntel(const MemoryRequest& request, const std::vector<SysfsPmu>& pmus) {
  Planned planned;
  for (const SysfsPmu& pmu : pmus) {
    if (request.options.callGraph == CallGraph::branchStack && pmu.capability("branches").value_or(0) <= 0) {
      planned.blockers.push_back({"call graph lbr", "the PMU " + pmu.name() + " keeps no branch stacks",
                                  "Ask for --call-graph fp or dwarf"});
      return planned;
    }
    // Absent before Linux 4.3; the kernel then refuses what is too precise.
    if (pmu.capability("max_precise").value_or(kMostPrecise) > 0) continue;
    const bool guest = cpuIdentity(request.kernel.sysfs).guest;
    planned.blockers.push_back(
        {"PEBS", pmu.name() + "/caps/max_precise is " + std::to_string(*pmu.capability("max_precise")),
         guest ? "The hypervisor gives this guest counters without PEBS: record on the host or on bare metal"
               : "The kernel switched PEBS off (see `dmesg | grep -i pebs`): update the CPU's microcode"});
    return planned;
  }
  planned.plan.ldlat = request.options.ldlat;
  for (const MemoryStep& step : memorySteps(request)) {
    Attempt attempt;
    attempt.kernel = step.kernel;
    for (const SysfsPmu& pmu : pmus) {
      const int64_t precise =
          std::clamp(pmu.capability("max_precise").value_or(kMostPrecise), int64_t{1}, kMostPrecise);
      addEvents(request, step, pmu, precise, attempt);
    }
    for (std::string& warning : stepWarnings(request, step)) attempt.warnings.push_back(std::move(warning));
    planned.plan.attempts.push_back(std::move(attempt));
  }
  return planned;
}

}  // namespace cacheline::record
