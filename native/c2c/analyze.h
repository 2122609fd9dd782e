// From a recording with data sources to its report: what `perf c2c report` counts, and a verdict on every
// line.
#pragma once

#include <functional>

#include "analysis/recording.h"
#include "analysis/report.h"
#include "c2c/options.h"
#include "perfdata/reader.h"

namespace cacheline::c2c {

/// Whether an event of the recording has data sources.
bool hasDataSources(const perfdata::Reader& reader);

/// Throws Error(unreadable) where no event with data sources has data addresses too. `progress` as for
/// analysis::analyze().
analysis::Report analyze(perfdata::Reader& reader, const analysis::Recording& recording,
                         const Options& options, const std::function<bool(double)>& progress = {});

}  // namespace cacheline::c2c
