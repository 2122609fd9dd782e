// The readings of a recording with data sources: a prepass of it that tells which lines will be listed, one
// of all samples, and another one of the listed lines' where the prepass did not tell.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/watch_evidence.h"
#include "perfdata/record_parser.h"
#include "sharing/inputs.h"
#include "sharing/memory_collector.h"
#include "sharing/options.h"
#include "sharing/survey.h"

namespace cacheline::sharing {

/// What the readings of a recording find.
struct Readings {
  std::unique_ptr<const analysis::Timeline> timeline;
  std::unique_ptr<MemoryCollector> collector;
  std::optional<analysis::WatchEvidence> watch;  ///< empty where nothing was watched
  std::vector<std::string> warnings;
};

/// Of the traps of watchpoints those stay in `inputs` that the filter of samples leaves; it gets `splits`.
Readings readSamples(Inputs& inputs, Display display);

}  // namespace cacheline::sharing
