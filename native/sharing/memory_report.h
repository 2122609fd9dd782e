// Selected lines and rows as values of the report.
#pragma once

#include "analysis/report.h"
#include "analysis/watch_evidence.h"
#include "sharing/memory_collector.h"
#include "sharing/options.h"
#include "sharing/survey.h"

namespace cacheline::sharing {

/// Fills lines, objects, statistics and counts of `report`; its lineSize, hitmKnown, peerKnown and c2c are
/// set. `watched`: what watchpoints trapped; null: nothing was watched.
void buildReport(MemoryCollector& collector, const Survey& survey, const analysis::WatchEvidence* watched,
                 Display display, const Options& options, analysis::Report& report);

}  // namespace cacheline::sharing
