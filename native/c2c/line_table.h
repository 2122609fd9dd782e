// perf's "Shared Data Cache Line Table": a row a line, in perf's columns, with the data on it and its verdict
// where there is room.
#pragma once

#include <string>
#include <vector>

#include "analysis/report.h"
#include "c2c/tables.h"
#include "text/row_sink.h"

namespace cacheline::c2c {

/// `data`: what lies on each line, see lineDataText().
void writeLineTable(const analysis::Report& report, const std::vector<std::string>& data,
                    const TableOptions& options, text::RowSink& out);

}  // namespace cacheline::c2c
