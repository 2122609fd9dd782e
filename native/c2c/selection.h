// Which lines and rows a report lists, in which order, and the sums over the shared lines.
#pragma once

#include <cstdint>
#include <vector>

#include "c2c/options.h"
#include "c2c/shards.h"

namespace cacheline::c2c {

/// Sums over lines with a HITM or a peer hit.
struct SharedLines {
  uint64_t lines = 0;
  Tally tally;
};

struct SelectedRow {
  const Row* row = nullptr;
  Tally tally;
};

struct SelectedLine {
  const AccessTable* table = nullptr;
  const Line* line = nullptr;
  uint64_t metric = 0;  ///< samples of what is displayed
};

/// Of the loads that decide about a listing: the samples that count for `display`.
uint64_t metricOf(const Tally& tally, Display display);

Tally tallyOf(const AccessTable& table, const Line& line, const SourceClasses& classes);

SharedLines sumShared(const Shards& shards, const SourceClasses& classes);

/// Lines with at least 0.1 % of what all shared lines have of the displayed loads (perf's limit), or all;
/// most first, then by address and space.
std::vector<SelectedLine> selectLines(const Shards& shards, const SharedLines& shared, Display display,
                                      bool all);

/// All rows, by offset, then most displayed loads first, then in the order of their first samples.
std::vector<SelectedRow> rowsOf(const SelectedLine& selected, const SourceClasses& classes, Display display);

/// Whether perf lists a row: it has a store or a displayed load.
inline bool isListed(const SelectedRow& row, Display display) {
  return row.tally[Counter::stores] != 0 || metricOf(row.tally, display) != 0;
}

}  // namespace cacheline::c2c
