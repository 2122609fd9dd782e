// From a recording to its report: lines, verdicts, names, by whatever evidence the recording has.
#pragma once

#include <functional>

#include "analysis/recording.h"
#include "analysis/report.h"
#include "perfdata/reader.h"
#include "sharing/options.h"

namespace cacheline::sharing {

/// Share done, 0 to 1; returning false cancels: Error(cancelled). May be empty.
using Progress = std::function<bool(double)>;

/// Whether an event of the recording has data sources.
bool hasDataSources(const perfdata::Reader& reader);

/// By data sources, or else by register snapshots. Throws Error(unreadable) where the recording cannot be
/// read or holds nothing that names data addresses, and Error(usage) where an option needs what it does not
/// have.
analysis::Report analyze(perfdata::Reader& reader, const analysis::Recording& recording,
                         const Options& options, const Progress& progress = {});

}  // namespace cacheline::sharing
