// Which collector records: the strongest that the machine allows, or the one that was asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/capability.h"
#include "record/event_plan.h"
#include "record/kernel.h"
#include "record/program.h"
#include "record/recorder.h"
#include "record/source.h"

namespace cacheline::record {

/// A collector that is ready to record.
struct Chosen {
  std::unique_ptr<Source> source;
  Target target;                   ///< as it is recorded: some PMUs see the whole machine only
  std::string collector, reason;   ///< "clock", one sentence
  std::optional<uint32_t> ldlat;   ///< see EventPlan
  std::vector<NotTaken> notTaken;  ///< each of the others
  std::vector<uint8_t> preamble;   ///< whole perf records for the file's start
  std::vector<std::string> warnings;
};

/// References are kept.
class CollectorSelection {
 public:
  /// Plans what options.collector asks for, strongest first. Throws Error(impossible) with the blockers where
  /// that is nothing.
  CollectorSelection(const Kernel& kernel, const RecordOptions& options, const Permissions& permissions);

  /// Opens the first plan that the kernel takes on `target` (options.target, with a command's process id), or
  /// the agent where it takes none. `program`: the command's; null: there is none. Throws Error(impossible)
  /// where nothing records, Error(usage) where the target has ended.
  Chosen open(const Target& target, const Program* program);

 private:
  void pass(const std::string& collector, const std::string& reason);
  void planPmu();
  void planClock();
  void planAgent();
  bool openPlans(const Target& target, const Program* program);
  void openPlan(const EventPlan& plan, const Target& target);
  void openAgent(const Target& target);
  std::string reasonFor(const std::string& collector) const;

  const Kernel& kernel_;
  const RecordOptions& options_;
  const Permissions& permissions_;
  std::vector<EventPlan> plans_;
  std::optional<RefusedError> refused_;  // what the last plan met
  Chosen chosen_;
};

}  // namespace cacheline::record
