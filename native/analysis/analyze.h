// From a recording to a report.
#pragma once

#include <functional>
#include <string>

#include "analysis/report.h"

namespace cacheline::analysis {

struct AnalyzeOptions {
  std::string path;      ///< a `.cacheline` folder or a perf.data file
  bool showAll = false;  ///< private lines too
};

/// Throws Error(unreadable) where the recording cannot be read or holds nothing that names data addresses.
/// `progress` (may be empty): share done, 0 to 1; returning false cancels (Error(cancelled)).
Report analyze(const AnalyzeOptions& options, const std::function<bool(double)>& progress = {});

}  // namespace cacheline::analysis
