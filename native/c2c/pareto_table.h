// perf's "Shared Cache Line Distribution Pareto": for each line its counts, and the rows they come from as
// shares of them.
#pragma once

#include <string>
#include <vector>

#include "analysis/report.h"
#include "c2c/tables.h"
#include "text/row_sink.h"

namespace cacheline::c2c {

/// `data`: what lies on each line, see lineDataText().
void writeParetoTable(const analysis::Report& report, const std::vector<std::string>& data,
                      const TableOptions& options, text::RowSink& out);

}  // namespace cacheline::c2c
