// Any recording to its report: which analysis it needs.
#pragma once

#include <functional>
#include <string>

#include "analysis/report.h"
#include "c2c/options.h"

namespace cacheline::profile {

/// Share done, 0 to 1; returning false cancels: Error(cancelled).
using Progress = std::function<bool(double)>;

/// By what the recording holds: data sources, or register snapshots. `path`: a recording folder or a
/// perf.data file. Throws Error(unreadable), and Error(usage) where an option needs data sources that are not
/// there.
analysis::Report analyze(const std::string& path, const c2c::Options& options, const Progress& progress);

}  // namespace cacheline::profile
