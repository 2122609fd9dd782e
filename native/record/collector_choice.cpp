// The order of the collectors, and the sentences on those that are passed over.
#include "record/collector_choice.h"

#include <utility>

#include "base/error.h"
#include "record/agent_source.h"
#include "record/clock_plan.h"
#include "record/memory_plan.h"
#include "record/perf_source.h"
#include "record/preloading.h"
#include "record/procfs.h"

namespace cacheline::record {
namespace {

std::string textOf(const std::vector<Blocker>& blockers) {
  std::vector<std::string> values;
  for (const Blocker& blocker : blockers) values.push_back(blocker.value);
  return join(values, "; ");
}

}  // namespace

CollectorSelection::CollectorSelection(const Kernel& kernel, const RecordOptions& options,
                                       const Permissions& permissions)
    : kernel_(kernel), options_(options), permissions_(permissions) {
  switch (options.collector) {
    case CollectorChoice::automatic:
      planPmu();
      planClock();
      break;
    case CollectorChoice::pmu:
      planPmu();
      break;
    case CollectorChoice::clock:
      planClock();
      break;
    case CollectorChoice::agent:
      planAgent();
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
  if (options_.collector == CollectorChoice::pmu)
    throw RefusedError("cannot record with the memory PMU: " + textOf(planned.blockers),
                       planned.blockers.front());
  pass("pmu", textOf(planned.blockers));
}

void CollectorSelection::planClock() {
  Planned planned = record::planClock(options_, permissions_);
  if (planned.blockers.empty()) {
    plans_.push_back(std::move(planned.plan));
    return;
  }
  if (plans_.empty())
    throw RefusedError("cannot record with the clock: " + textOf(planned.blockers), planned.blockers.front());
  pass("clock", textOf(planned.blockers));
}

/// What can be known before the program is looked at.
void CollectorSelection::planAgent() {
  if (const std::optional<Blocker> blocker = whyNoAgent(options_, nullptr))
    throw RefusedError("cannot record with the agent: " + blocker->value, *blocker);
}

Chosen CollectorSelection::open(const Target& target, const Program* program) {
  if (openPlans(target, program)) {
    if (options_.collector == CollectorChoice::automatic)
      pass("agent", "perf_event_open works here and disturbs the program less");
    return std::move(chosen_);
  }
  const bool asked = options_.collector == CollectorChoice::agent;
  if (!asked && options_.collector != CollectorChoice::automatic) throw *refused_;
  if (const std::optional<Blocker> blocker = whyNoAgent(options_, program)) {
    if (asked) throw RefusedError("cannot record with the agent: " + blocker->value, *blocker);
    throw RefusedError(std::string(refused_->what()) + "; nor with the agent: " + blocker->value,
                       refused_->blocker());
  }
  openAgent(target);
  return std::move(chosen_);
}

/// False where the kernel takes none: refused_ then says why.
bool CollectorSelection::openPlans(const Target& target, const Program* program) {
  const bool followed = program != nullptr && target.kind == Target::Kind::command;
  const std::optional<Blocker> blocker = followed ? whyNotSampled(*program) : std::nullopt;
  for (size_t i = 0; i < plans_.size(); i++) {
    try {
      if (blocker && !plans_[i].wholeMachineOnly) throw RefusedError(blocker->value, *blocker);
      openPlan(plans_[i], target);
    } catch (const RefusedError& error) {
      pass(plans_[i].collector, error.what());
      refused_ = error;
      continue;
    }
    chosen_.reason = reasonFor(plans_[i].collector);
    for (i++; i < plans_.size(); i++) pass(plans_[i].collector, "the memory PMU sees more");
    return true;
  }
  return false;
}

void CollectorSelection::openAgent(const Target& target) {
  const uint32_t frequency = agentFrequency(options_, chosen_.warnings);
  chosen_.collector = "agent";
  chosen_.target = target;
  chosen_.reason = std::string(refused_ ? "perf events are refused, so " : "the agent was asked for: ") +
                   "samples by " + agentTimerText(frequency);
  chosen_.source = record::openAgent({options_.agentLibrary, options_.outputDirectory, frequency,
                                      options_.control && options_.control->startDisabled});
  if (options_.callGraph != CallGraph::none)
    chosen_.warnings.emplace_back("the agent records no call chains");
}

void CollectorSelection::openPlan(const EventPlan& plan, const Target& target) {
  chosen_.collector = plan.collector;
  chosen_.preamble = plan.preamble;
  chosen_.ldlat = plan.ldlat;
  chosen_.target = target;
  const bool wider = plan.wholeMachineOnly && target.kind != Target::Kind::system;
  if (wider) {
    chosen_.target.kind = Target::Kind::system;
    chosen_.target.ids.clear();
  }
  const bool startsDisabled = options_.control && options_.control->startDisabled;
  const bool onExec = chosen_.target.kind == Target::Kind::command && !startsDisabled;
  auto source = PerfSource::open(kernel_, plan, chosen_.target, permissions_,
                                 {.ringBytes = options_.ringBytes,
                                  .enableOnExec = onExec,
                                  .tracking = options_.control.has_value(),
                                  .switches = options_.switches});
  // perf wants to know the clock before it reads of the trace.
  chosen_.preamble.insert(chosen_.preamble.begin(), source->timeConversion().begin(),
                          source->timeConversion().end());
  chosen_.source = std::move(source);
  if (wider)
    chosen_.warnings.push_back(
        "this PMU cannot follow one program: the recording holds everything that ran meanwhile");
}

std::string CollectorSelection::reasonFor(const std::string& collector) const {
  const bool asked = options_.collector != CollectorChoice::automatic;
  if (collector == "pmu")
    return asked ? "the memory PMU was asked for" : "the memory PMU says where each access found its data";
  if (asked) return "clock samples were asked for";
  return "clock samples with decoded addresses are the best evidence that this machine allows";
}

}  // namespace cacheline::record
