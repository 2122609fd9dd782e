// What this machine can record, and why not the rest.
#pragma once

#include <cstdint>
#include <optional>
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
  std::string note;  ///< what else is to be known; empty: nothing
};

/// What the built-in contended program showed with one collector.
struct SelfTest {
  std::string collector;  ///< "clock", ...
  bool passed = false;
  uint64_t samples = 0;  ///< of watchpoints: accesses seen
  std::string found;     ///< one sentence: what was found, or what went wrong
};

struct Doctor {
  std::vector<CollectorState> collectors;
  std::optional<std::vector<SelfTest>> selfTests;  ///< empty: none were asked for
  std::string machineJson;  ///< the `machine` object: kernel, cpu model, cpus, hypervisor, pmus, paranoid,
                            ///< lineSize, ...
};

/// Tries the real system calls; takes a few milliseconds. Never throws for a refusal: that is its answer.
/// `agentLibrary`: path of libcacheline_sampler.so.
Doctor examineMachine(const std::string& agentLibrary);
/// The document of `cacheline doctor --format json` (see docs/outputs.md).
std::string doctorJson(const Doctor& doctor);

}  // namespace cacheline::record
