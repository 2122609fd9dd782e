// The file around the samples: events with ids, header features, and those features Writer has no values for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "binary.h"
#include "options.h"
#include "perfdata/event.h"
#include "perfdata/features.h"
#include "scenario.h"

namespace cacheline::synth {

/// Physical memory: node n has [n, n + 1) * kNodeBytes.
inline constexpr uint64_t kNodeBytes = uint64_t{4} << 30;

/// The scenario's events with one id for each CPU.
std::vector<perfdata::Event> eventsOf(const Scenario& scenario, uint32_t cpus);
uint64_t idOf(uint64_t event, uint64_t cpu);

perfdata::Features featuresOf(const Options& options, const Scenario& scenario, const Binary& binary,
                              uint64_t firstTime, uint64_t lastTime);

/// Adds MEM_TOPOLOGY, and GROUP_DESC where the scenario has a group, to a finished recording. Throws
/// Error(io).
void addFeatures(const std::string& path, const Scenario& scenario);

}  // namespace cacheline::synth
