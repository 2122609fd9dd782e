// What an analysis reads, beside the samples.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "analysis/recording.h"
#include "analysis/report.h"
#include "analysis/watch_log.h"
#include "heap/allocations.h"
#include "perfdata/reader.h"
#include "sharing/options.h"
#include "sharing/split_table.h"

namespace cacheline::sharing {

struct Inputs {
  perfdata::Reader& reader;
  const analysis::Recording& recording;
  const Options& options;
  uint32_t tableLine;                              ///< bytes, as tableLineSize()
  std::function<bool(double)> progress;            ///< returns true, or throws Error(cancelled)
  std::unique_ptr<heap::Allocations> allocations;  ///< null where there are none that can be used
  std::unique_ptr<analysis::WatchLog> watched;     ///< likewise
  std::optional<Splitting> splits = {};            ///< what Options::splits is in this recording
};

inline constexpr double kReadingShare =
    0.9;  ///< of the progress, when the samples are read; naming is the rest

/// Each fills what analyze() does not.
void analyzeClock(Inputs& inputs, analysis::Report& report);
void analyzeMemory(Inputs& inputs, analysis::Report& report);

}  // namespace cacheline::sharing
