// The order of the collectors, and the sentences on those that are passed over.
#include "record/collector_choice.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "record/clock_plan.h"
#include "record/perf_source.h"
#include "record/pmu.h"
#include "record/procfs.h"

namespace cacheline::record {
namespace {

/// What the memory PMU could record, or why it cannot.
Planned planMemory(const Kernel& kernel) {
  const std::string folder = kernel.sysfs + "/bus/event_source/devices";
  Planned planned;
  planned.plan.collector = "pmu";
  if (const std::optional<MemoryPmu> memory = findMemoryPmu(folder)) {
    planned.blockers.push_back(
        {"recording with the memory PMU",
         "this version does not record with this machine's memory PMU (" + memory->event + ")",
         "Use the clock collector"});
    return planned;
  }
  std::vector<std::string> names;
  for (const Pmu& pmu : listPmus(folder)) names.push_back(pmu.name);
  planned.blockers.push_back({"memory PMU",
                              "no memory PMU on this machine (" +
                                  (names.empty() ? "nothing" : "only " + join(names, ", ")) + " under " +
                                  folder + ")",
                              "Record on a machine whose CPU samples memory accesses"});
  return planned;
}

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
      pass("clock", "the memory PMU was asked for");
      break;
    case CollectorChoice::clock:
      pass("pmu", "the clock was asked for");
      planClock();
      break;
    case CollectorChoice::agent:
      throw RefusedError("cannot record with the agent: this version has none",
                         {"agent", "this version has none", "Use the clock collector"});
  }
}

void CollectorSelection::pass(const std::string& collector, const std::string& reason) {
  chosen_.notTaken.push_back({collector, reason});
}

void CollectorSelection::planPmu() {
  Planned planned = planMemory(kernel_);
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

Chosen CollectorSelection::open(const Target& target) {
  for (size_t i = 0;; i++) {
    try {
      openPlan(plans_[i], target);
    } catch (const RefusedError& error) {
      if (i + 1 == plans_.size()) throw;
      pass(plans_[i].collector, error.what());
      continue;
    }
    chosen_.reason = reasonFor(plans_[i].collector);
    for (i++; i < plans_.size(); i++) pass(plans_[i].collector, "the memory PMU sees more");
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
  chosen_.source =
      PerfSource::open(kernel_, plan, chosen_.target, permissions_, {options_.ringBytes, onExec});
  if (wider)
    chosen_.warnings.push_back(
        "this PMU cannot follow one program: everything that ran meanwhile is in the recording");
}

std::string CollectorSelection::reasonFor(const std::string& collector) const {
  const bool asked = options_.collector != CollectorChoice::automatic;
  if (collector == "pmu")
    return asked ? "the memory PMU was asked for" : "the memory PMU says where each access found its data";
  if (asked) return "clock samples were asked for";
  return chosen_.notTaken.front().reason + ", so clock samples with decoded addresses";
}

}  // namespace cacheline::record
