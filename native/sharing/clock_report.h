// From the accesses of a clock recording to the report's lines and objects.
#pragma once

#include "analysis/cpu_nodes.h"
#include "analysis/report.h"
#include "sharing/clock_collector.h"
#include "sharing/options.h"

namespace cacheline::sharing {

/// Fills counts, lines, objects and binaries of `report`. `collector`: after finish(). `cpusKnown`: the
/// samples carry CPU numbers.
void buildReport(ClockCollector& collector, const analysis::CpuNodes& nodes, const Options& options,
                 bool cpusKnown, analysis::Report& report);

}  // namespace cacheline::sharing
