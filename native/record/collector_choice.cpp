// The order of the collectors, and the sentences on those that are passed over.
#include "record/collector_choice.h"

#include <cerrno>
#include <utility>

#include "base/unique_fd.h"
#include "record/agent_source.h"
#include "record/clock_plan.h"
#include "record/memory_plan.h"
#include "record/perf_source.h"
#include "record/procfs.h"

namespace cacheline::record {
namespace {

std::string textOf(const std::vector<Blocker>& blockers) {
  std::vector<std::string> texts;
  for (const Blocker& blocker : blockers) texts.push_back(blocker.what + ": " + blocker.value);
  return join(texts, "; ");
}

RefusedError refusedBy(const std::string& what, const std::vector<Blocker>& blockers) {
  return {"cannot record with " + what + ": " + textOf(blockers), blockers.front()};
}

/// 0, or why even the least event of this process is refused.
int tryPerfEvents(const Kernel& kernel) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.disabled = attr.exclude_kernel = attr.exclude_hv = 1;
  return UniqueFd(kernel.perfEventOpen(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)) ? 0 : errno;
}

constexpr const char* kPmuAsked = "the memory PMU was asked for";
constexpr const char* kClockAsked = "the clock was asked for";
constexpr const char* kAgentAsked = "the agent was asked for";

}  // namespace

CollectorSelection::CollectorSelection(const Kernel& kernel, const RecordOptions& options,
                                       const Permissions& permissions, const Program* program)
    : kernel_(kernel), options_(options), permissions_(permissions), program_(program) {
  switch (options.collector) {
    case CollectorChoice::automatic:
      if (agentStandsIn()) return;
      planPmu();
      planClock();
      pass("agent", "perf_event_open works here and disturbs the program less");
      break;
    case CollectorChoice::pmu:
      planPmu();
      chosen_.reason = kPmuAsked;
      pass("clock", kPmuAsked);
      pass("agent", kPmuAsked);
      break;
    case CollectorChoice::clock:
      pass("pmu", kClockAsked);
      planClock();
      chosen_.reason = kClockAsked;
      pass("agent", kClockAsked);
      break;
    case CollectorChoice::agent:
      if (const std::optional<Blocker> blocker = agentBlocker()) throw refusedBy("the agent", {*blocker});
      pass("pmu", kAgentAsked);
      pass("clock", kAgentAsked);
      planAgent();
      chosen_.reason = std::string(kAgentAsked) + ": " + chosen_.reason;
      break;
  }
}

void CollectorSelection::pass(const std::string& collector, const std::string& reason) {
  chosen_.notTaken.push_back({collector, reason});
}

void CollectorSelection::planPmu() {
  Planned planned = planMemory(kernel_, options_, permissions_);
  if (planned.blockers.empty()) {
    plans_.push_back(std::move(planned.plan));
    return;
  }
  if (options_.collector == CollectorChoice::pmu) throw refusedBy("the memory PMU", planned.blockers);
  pass("pmu", textOf(planned.blockers));
}

void CollectorSelection::planClock() {
  Planned planned = record::planClock(options_, permissions_);
  if (planned.blockers.empty()) {
    plans_.push_back(std::move(planned.plan));
    return;
  }
  if (plans_.empty()) throw refusedBy("the clock", planned.blockers);
  pass("clock", textOf(planned.blockers));
}

std::optional<Blocker> CollectorSelection::agentBlocker() const {
  if (options_.kernelOnly)
    return Blocker{"samples in the kernel", "the agent sees the program's own code only",
                   "Record with another collector"};
  if (options_.period != 0) return Blocker{"a period", "the agent samples by time", "Ask for a rate with -F"};
  return whyNoAgent(options_.target, options_.agentLibrary, program_);
}

/// Where perf_event_open is refused outright, and the agent is not.
bool CollectorSelection::agentStandsIn() {
  const int errnum = tryPerfEvents(kernel_);
  if (errnum != EACCES && errnum != EPERM && errnum != ENOSYS) return false;
  if (program_ == nullptr || agentBlocker()) return false;
  const Blocker refusal = explainRefusal(errnum, permissions_);
  const std::string reason =
      "perf_event_open is refused with " + errnoText(errnum) +
      (refusal.what == "perf_event_open" ? "" : "; " + refusal.what + ": " + refusal.value);
  pass("pmu", reason);
  pass("clock", reason);
  planAgent();
  chosen_.reason = reason + ", so " + chosen_.reason;
  return true;
}

void CollectorSelection::planAgent() {
  AgentOptions agent;
  agent.library = options_.agentLibrary;
  agent.outputDirectory = options_.outputDirectory;
  if (options_.frequencyGiven)
    agent.frequency = allowedFrequency(options_.frequency, permissions_, chosen_.warnings);
  agent.startDisabled = options_.control && options_.control->startDisabled;
  if (options_.callGraph != CallGraph::none) chosen_.warnings.push_back("the agent records no call chains");
  if (!options_.target.cpus.empty())
    chosen_.warnings.push_back("the agent records on all CPUs: the list of CPUs has no effect");
  if (!options_.target.children) chosen_.warnings.push_back("the agent records the program's children, too");
  chosen_.source = openAgent(agent);
  chosen_.collector = "agent";
  chosen_.reason = agentTimerText(agent.frequency);
}

std::vector<std::string> CollectorSelection::environment(std::vector<std::string> environment) const {
  return chosen_.source ? chosen_.source->environment(std::move(environment)) : environment;
}

Chosen CollectorSelection::open(const Target& target) {
  if (chosen_.source) {
    chosen_.target = target;
    return std::move(chosen_);
  }
  for (size_t i = 0;; i++) {
    const std::string& name = plans_[i].collector;
    try {
      openPlan(plans_[i], target);
    } catch (const RefusedError& error) {
      if (i + 1 == plans_.size()) throw;
      chosen_.notTaken.insert(chosen_.notTaken.begin(), {name, error.what()});
      continue;
    }
    if (i + 1 < plans_.size()) pass(plans_[i + 1].collector, "the memory PMU sees more");
    if (chosen_.reason.empty())
      chosen_.reason = name == "pmu"
                           ? "the memory PMU says where each access found its data"
                           : chosen_.notTaken.front().reason + ", so clock samples with decoded addresses";
    return std::move(chosen_);
  }
}

void CollectorSelection::openPlan(const EventPlan& plan, const Target& target) {
  chosen_.collector = plan.collector;
  chosen_.preamble = plan.preamble;
  chosen_.target = target;
  const bool wider = plan.wholeMachineOnly && target.kind != Target::Kind::system;
  if (wider) {
    chosen_.target.kind = Target::Kind::system;
    chosen_.target.ids.clear();
  }
  const bool startsDisabled = options_.control && options_.control->startDisabled;
  const bool onExec = chosen_.target.kind == Target::Kind::command && !startsDisabled;
  chosen_.source = PerfSource::open(kernel_, plan, chosen_.target, permissions_,
                                    {options_.ringBytes, onExec, options_.control.has_value()});
  if (wider)
    chosen_.warnings.push_back(
        "this PMU cannot follow one program: everything that ran meanwhile is in the recording");
}

}  // namespace cacheline::record
