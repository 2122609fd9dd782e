// From a clock recording to a report.
#pragma once

#include <functional>
#include <string>

#include "analysis/coalesce.h"
#include "analysis/recording.h"
#include "analysis/report.h"
#include "analysis/sample_filter.h"
#include "perfdata/reader.h"
#include "symbols/symbol_search.h"

namespace cacheline::analysis {

struct AnalyzeOptions {
  bool showAll = false;     ///< private lines too
  bool callers = false;     ///< of each row, where there are call chains
  bool doubleLine = false;  ///< a line is a pair of neighbours
  Coalesce coalesce = {};
  Filter filter = {};
  symbols::SymbolOptions symbols = {};  ///< where binaries are looked for
  unsigned threads = 2;                 ///< at least 1; the result is the same
};

/// Throws Error(usage) where pairs of such lines are not supported; --double-cl asks for them.
void checkPairs(uint32_t lineSize);

/// Throws Error(unreadable) where the recording cannot be read or holds nothing that names data addresses.
/// `progress` (may be empty): share done, 0 to 1; returning false cancels (Error(cancelled)).
Report analyze(perfdata::Reader& reader, const Recording& recording, const AnalyzeOptions& options,
               const std::function<bool(double)>& progress = {});

}  // namespace cacheline::analysis
