// The numbers that `perf c2c report --stats` prints.
#pragma once

#include "analysis/report.h"
#include "c2c/survey.h"

namespace cacheline::c2c {

/// Fills `stats` and `shared`; hitmKnown and peerKnown are set.
void addStatistics(const Survey& survey, analysis::Report& report);

}  // namespace cacheline::c2c
