// Samples where perf_event_open is refused: an agent, preloaded into the program, takes them in a timer's
// signal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/doctor.h"
#include "record/program.h"
#include "record/recorder.h"
#include "record/source.h"
#include "record/target.h"

namespace cacheline::record {

/// Samples a second of a thread's CPU time by default. The kernel looks at CPU-time timers in its own tick
/// only: up to CONFIG_HZ a second, which is 250 on most machines; more are taken by the wall clock.
uint32_t agentFrequency();

struct AgentOptions {
  std::string library;                    ///< path of libcacheline_sampler.so, which lies beside the addon
  std::string outputDirectory;            ///< holds the memory that it shares with the program
  uint32_t frequency = agentFrequency();  ///< samples a second and thread
  bool startDisabled = false;
};

/// What keeps the agent out, and what lifts it: another target than a command, a machine that is not x86-64,
/// a missing library (empty: the one beside this code), refused timers, and (where a program is given) one of
/// Go's or one into which ld.so preloads nothing.
std::optional<Blocker> whyNoAgent(const Target& target, const std::string& library,
                                  const Program* program = nullptr);
/// The same, and what the options ask for that the agent cannot do.
std::optional<Blocker> whyNoAgent(const RecordOptions& options, const Program* program);

/// What the options ask for, as far as the agent can; a warning is added where that is less.
uint32_t agentFrequency(const RecordOptions& options, std::vector<std::string>& warnings);

/// "a CPU-time timer at 250 Hz in each thread", "a wall-clock timer at 1000 Hz in each thread".
std::string agentTimerText(uint32_t frequency);

/// The one that is given, or the one beside the module (the addon) that holds this code.
std::string agentLibrary(const std::string& given);

/// Makes the shared memory. Throws Error(io), Error(impossible).
std::unique_ptr<Source> openAgent(const AgentOptions& options);

}  // namespace cacheline::record
