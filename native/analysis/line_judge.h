// Verdicts on all lines of a sharing table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/attribution.h"
#include "analysis/line_verdict.h"
#include "analysis/sharing_table.h"
#include "analysis/visitors.h"

namespace cacheline::analysis {

/// One line with samples, what was decided about it, and its cells.
struct JudgedLine {
  uint32_t line = 0;  ///< index into SharingTable::lines()
  std::span<const SharingTable::CellView> cells;
  Verdict verdict = Verdict::privateLine;
  bool lock = false, mixedUse = false, straddling = false;
  bool adjacent = false;            ///< the other line of its pair is contended too
  uint64_t contended = 0;           ///< samples; 0 unless isContended(verdict)
  std::optional<Waiting> waiting;   ///< of contended lines with samples
  std::vector<uint32_t> useOfCell;  ///< by cell: index of its WordStatistics
  struct Guest {
    uint32_t visitor = 0;  ///< of the table
    bool competes = false;
  };
  std::vector<Guest> guests;  ///< by visitor of `waiting`
  uint32_t goroutines = 0;    ///< among its actors
  bool leftOut = false;       ///< some of its actors were not compared
  /// Of one WordStatistics; 0 unless isContended(verdict).
  uint64_t contendedAt(uint32_t placeUse) const;
};

struct JudgedTable {
  SharingTable::Selection selection;  ///< what the spans point into
  std::vector<JudgedLine> lines;      ///< several actors, or all where asked for; in order of first touch
  uint64_t singleThreaded = 0;        ///< lines with samples that are not in `lines`: one actor only
};

/// What judgeLines() is asked for.
struct JudgeOptions {
  bool all = false;                ///< also lines that only one actor touched (they are private)
  bool byThread = false;           ///< a WordStatistics is of one thread
  std::span<const uint32_t> also;  ///< such lines, by index, and lines without samples
};

/// Lines without samples have no cells and come last.
JudgedTable judgeLines(const SharingTable& table, const Visitors& visitors, const Attribution& sites,
                       Binaries& binaries, const JudgeOptions& options);

}  // namespace cacheline::analysis
