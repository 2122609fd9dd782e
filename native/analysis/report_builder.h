// From the counts of a pass to the report's lines and objects.
#pragma once

#include "analysis/coalesce.h"
#include "analysis/collector.h"
#include "analysis/cpu_nodes.h"
#include "analysis/line_judge.h"
#include "analysis/report.h"

namespace cacheline::analysis {

struct BuildOptions {
  bool showAll = false;
  bool cpusKnown = true;    ///< the samples carry CPU numbers
  bool doubleLine = false;  ///< the table's lines are pairs of neighbours
  Coalesce coalesce;
};

/// Fills counts, lines, objects and binaries of `report`.
void buildReport(Collector& collector, const CpuNodes& nodes, const BuildOptions& options, Report& report);

}  // namespace cacheline::analysis
