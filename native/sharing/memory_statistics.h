// The numbers that `perf c2c report --stats` prints.
#pragma once

#include "analysis/report.h"
#include "sharing/survey.h"

namespace cacheline::sharing {

/// Fills `stats` and `shared`; hitmKnown and peerKnown are set.
void addStatistics(const Survey& survey, analysis::Report& report);

}  // namespace cacheline::sharing
