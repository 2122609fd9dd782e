// The statistics of a report's head, of a recording without data sources.
#pragma once

#include <cstdint>

#include "analysis/report.h"
#include "sharing/clock_collector.h"

namespace cacheline::sharing {

/// Of lines with competing threads and a writer.
struct SharedCounts {
  uint64_t lines = 0, loads = 0, stores = 0, locked = 0;
};

/// Fills `stats` and `shared`; what takes data sources to know is empty.
void addStatistics(const ClockCollector& collector, const SharedCounts& shared, analysis::Report& report);

}  // namespace cacheline::sharing
