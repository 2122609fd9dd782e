// What `perf c2c report` prints of lines and rows, as text: its two tables, the heap blocks of the data
// and the callers of the code in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report.h"

namespace cacheline::c2c {

inline constexpr uint32_t kNarrowestTables = 40;  ///< columns

struct TableOptions {
  uint32_t width = 80;       ///< columns of the terminal, at least kNarrowestTables
  bool coloured = false;     ///< with ECMA-48 escapes
  std::string folder;        ///< the reader's: source paths below it are shown relative to it
  uint32_t nodeInfo = 0;     ///< of nodes, 0: ids; 1: with CPU counts and shares; 2: with CPU lists
  bool fullSymbols = false;  ///< names of functions in full, however long
  bool source = true;        ///< with source files and lines
  bool callers = false;      ///< were asked for: says so where there are none
  unsigned threads = 2;      ///< at least 1; the result is the same
};

/// Rows of at most `width` columns, an empty one between two blocks, in pieces cut between two rows; no
/// pieces where the report has no lines. `report` is one of a recording with data sources: its c2c and the
/// memory of its lines and accesses are set.
std::vector<std::string> tablesText(const analysis::Report& report, const TableOptions& options);

}  // namespace cacheline::c2c
