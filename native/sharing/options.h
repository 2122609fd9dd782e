// What a report of memory samples is asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/coalesce.h"
#include "analysis/kept_binaries.h"
#include "analysis/sample_filter.h"
#include "analysis/splits.h"
#include "symbols/symbol_search.h"

namespace cacheline::sharing {

/// Of memory samples: what lines are sorted by and how much of it a line needs to be listed.
enum class Display : uint8_t { total, local, remote, peer };
const char* displayName(Display display);  ///< as -d spells it: "tot", "lcl", "rmt", "peer"

struct Options {
  bool showAll = false;                 ///< all lines and rows, private ones too
  std::optional<Display> display = {};  ///< by default peer for Arm, else total
  analysis::Coalesce coalesce = {};
  bool doubleLine = false;
  analysis::Filter filter = {};
  bool callers = false;
  bool history = false;    ///< of each line its samples, one by one (analysis::LineHistory)
  bool heapSites = false;  ///< all recorded heap blocks, by where they were allocated (Report::heapSites)
  std::optional<analysis::SplitBy> splits = {};       ///< what tables are added up from; needs `showAll`
  symbols::SymbolOptions symbols = {};                ///< where binaries are looked for
  std::shared_ptr<analysis::KeptBinaries> kept = {};  ///< see there; needs one thread
  unsigned threads = 2;                               ///< at least 1; the result is the same
  /// Displayed loads that tell which lines will be listed; the result is the same. Fewer make more lines
  /// likely.
  uint64_t prepassLoads = 200'000;
  /// Lines that are not listed but count in the sums of objects and types; see summed_lines.h. Each costs
  /// some microseconds.
  size_t mostSummed = 20'000;
};

/// Bytes of a line of the table: of a recording's line, or of a pair of neighbours. Throws Error(usage) where
/// pairs of such lines are not supported.
uint32_t tableLineSize(uint32_t lineSize, bool pairs);

}  // namespace cacheline::sharing
