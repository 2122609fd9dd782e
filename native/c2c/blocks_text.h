// The recorded heap blocks of the rows, and who allocated them.
#pragma once

#include "analysis/report.h"
#include "c2c/source_text.h"
#include "c2c/tables.h"
#include "text/row_sink.h"

namespace cacheline::c2c {

/// Nothing where no row is in such a block.
void writeBlocks(const analysis::Report& report, const TableOptions& options, SourceText& source,
                 text::RowSink& out);

}  // namespace cacheline::c2c
