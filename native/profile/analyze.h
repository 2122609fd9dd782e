// A recording on disk to its report.
#pragma once

#include <string>

#include "analysis/report.h"
#include "sharing/analyze.h"

namespace cacheline::profile {

using sharing::Progress;

/// `path`: a recording folder or a perf.data file. Throws what sharing::analyze() does.
analysis::Report analyze(const std::string& path, const sharing::Options& options, const Progress& progress);

}  // namespace cacheline::profile
