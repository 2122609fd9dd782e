// Who called the code of the rows, where call chains were recorded: each code address once, however many rows
// it has.
#pragma once

#include "analysis/report.h"
#include "c2c/source_text.h"
#include "c2c/tables.h"
#include "text/row_sink.h"

namespace cacheline::c2c {

/// Nothing where the rows have no call chains and none were asked for.
void writeCallers(const analysis::Report& report, const TableOptions& options, SourceText& source,
                  text::RowSink& out);

}  // namespace cacheline::c2c
