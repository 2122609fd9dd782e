// Selected lines and rows as values of the report.
#pragma once

#include "analysis/report.h"
#include "c2c/collector.h"
#include "c2c/options.h"

namespace cacheline::c2c {

/// Fills lines, objects, statistics and counts of `report`; its lineSize, hitmKnown, peerKnown and c2c are
/// set.
void buildReport(Collector& collector, Display display, const Options& options, analysis::Report& report);

}  // namespace cacheline::c2c
