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
#include "c2c/collector.h"
#include "c2c/options.h"
#include "c2c/survey.h"
#include "perfdata/record_parser.h"

namespace cacheline::c2c {

/// What the readings of a recording find.
struct Readings {
  std::unique_ptr<const analysis::Timeline> timeline;
  std::unique_ptr<Collector> collector;
  std::optional<analysis::WatchEvidence> watch;  ///< empty where nothing was watched
  std::vector<std::string> warnings;
};

/// `lineSize`: bytes; of a pair of lines where pairs are asked for. `watched`: null where nothing was.
/// `allocations`: null where there are none; must live as long as what is returned.
Readings readSamples(perfdata::Reader& reader, const analysis::Meta& meta, const Options& options,
                     uint32_t lineSize, Display display, const analysis::WatchLog* watched,
                     const heap::Allocations* allocations, const std::function<bool(double)>& progress);

}  // namespace cacheline::c2c
