// Which lines and rows a report lists, in which order, and the sums over the shared lines.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/line_space.h"
#include "sharing/access_table.h"
#include "sharing/data_source.h"
#include "sharing/line_totals.h"
#include "sharing/options.h"

namespace cacheline::sharing {

/// Sums over lines with a HITM or a peer hit.
struct SharedLines {
  uint64_t lines = 0, loads = 0, locked = 0, blocked = 0;
  RowTally tally;
  void add(const LineTotal& line);
};

struct SelectedRow {
  const Row* row = nullptr;
  uint32_t number = 0;  ///< in the line's list
  RowTally tally;
};

struct SelectedLine {
  const Line* line = nullptr;
  uint64_t metric = 0;  ///< samples of what is displayed
};

/// Of the loads that decide about a listing: the samples that count for `display`.
uint64_t metricOf(const RowTally& tally, Display display);
uint64_t metricOf(const Tally& tally, Display display);
uint64_t metricOf(const LineTotal& line, Display display);
uint64_t metricOf(const AggregateSums& sums, Display display);
/// HITMs and peers' answers: where there are some, the line is shared.
uint64_t sharedLoads(const LineTotal& line);

/// Of what all shared lines have of the displayed loads, a line needs that much to be listed (perf's limit).
inline constexpr double kListedShare = 0.001;

/// Whether a report has a line with so many displayed loads.
bool isListed(uint64_t metric, const SharedLines& shared, Display display);

/// Most displayed loads first, then by address and space.
void sortLines(std::vector<SelectedLine>& lines, const analysis::LineSpaces& spaces);

/// The lines that are listed, or all, sorted.
std::vector<SelectedLine> selectLines(const AccessTable& table, const analysis::LineSpaces& spaces,
                                      const SharedLines& shared, Display display, bool all);

/// All rows, by offset, then most displayed loads first, then in the order of their first samples.
std::vector<SelectedRow> rowsOf(const AccessTable& table, const Line& line, Display display);

/// Whether perf lists a row: it has a store or a displayed load.
inline bool isListed(const SelectedRow& row, Display display) {
  return row.tally[RowCounter::stores] != 0 || metricOf(row.tally, display) != 0;
}

}  // namespace cacheline::sharing
