// Selected lines and rows as values of the report.
#pragma once

#include "analysis/report.h"
#include "analysis/watch_evidence.h"
#include "c2c/collector.h"
#include "c2c/options.h"
#include "c2c/survey.h"

namespace cacheline::c2c {

/// Fills lines, objects, statistics and counts of `report`; its lineSize, hitmKnown, peerKnown and c2c are
/// set. `watched`: what watchpoints trapped; null: nothing was watched.
void buildReport(Collector& collector, const Survey& survey, const analysis::WatchEvidence* watched,
                 Display display, const Options& options, analysis::Report& report);

}  // namespace cacheline::c2c
