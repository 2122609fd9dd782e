// What this machine can record, and why not the rest.
#pragma once

#include <string>
#include <vector>

namespace cacheline::record {

struct Blocker {
  std::string what;   ///< "perf_event_paranoid"
  std::string value;  ///< "4"
  std::string fix;    ///< the command or setting that lifts it, or why nothing does
};

struct CollectorState {
  std::string name;  ///< "pmu", "clock", "watch", "agent"
  bool usable = false;
  std::vector<Blocker> blockers;
};

struct Doctor {
  std::vector<CollectorState> collectors;
  std::string machineJson;  ///< the `machine` object: kernel, cpu model, cpus, hypervisor, pmus, paranoid,
                            ///< lineSize, ...
};

/// Tries the real system calls; takes a few milliseconds. Never throws for a refusal: that is its answer.
Doctor examineMachine();
/// The document of `cacheline doctor --format json` (see docs/outputs.md).
std::string doctorJson(const Doctor& doctor);

}  // namespace cacheline::record
