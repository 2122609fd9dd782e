// The blocks of the tables, in their order.
#include "c2c/tables.h"

#include <algorithm>
#include <string_view>

#include "c2c/blocks_text.h"
#include "c2c/callers_text.h"
#include "c2c/data_text.h"
#include "c2c/line_table.h"
#include "c2c/pareto_table.h"
#include "c2c/source_text.h"
#include "c2c/table_cells.h"
#include "text/row_sink.h"

namespace cacheline::c2c {

namespace {

constexpr size_t kRuleWidth = 49;

/// Between two rules, as perf sets titles.
void writeTitle(std::string_view title, size_t width, text::RowSink& out) {
  out.beginBlock();
  const std::string rule(std::min(kRuleWidth, width), '=');
  out.add(rule);
  out.row().append((rule.size() - std::min(rule.size(), title.size())) / 2, ' ');
  text::appendShortened(out.row(), title, width, text::Shorten::end);
  out.end();
  out.add(rule);
}

}  // namespace

std::vector<std::string> tablesText(const analysis::Report& report, const TableOptions& options) {
  text::RowSink out(options.coloured);
  if (!report.lines.empty()) {
    const Displayed displayed(report);
    std::vector<std::string> data;
    for (const analysis::Line& line : report.lines) data.push_back(lineDataText(line, displayed));
    writeTitle("Shared Data Cache Line Table", options.width, out);
    writeLineTable(report, data, options, out);
    writeTitle("Shared Cache Line Distribution Pareto", options.width, out);
    writeParetoTable(report, data, options, out);
  }
  SourceText source(options.folder);
  writeBlocks(report, options, source, out);
  writeCallers(report, options, source, out);
  return out.take();
}

}  // namespace cacheline::c2c
