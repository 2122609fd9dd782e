// Verdicts on all lines of a sharing table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/attribution.h"
#include "analysis/sharing_table.h"
#include "analysis/verdict.h"

namespace cacheline::analysis {

/// One line with samples, what was decided about it, and its cells.
struct JudgedLine {
  uint32_t line = 0;  ///< index into SharingTable::lines()
  std::span<const SharingTable::CellView> cells;
  Verdict verdict = Verdict::privateLine;
  bool lock = false, mixedUse = false, straddling = false;
  bool adjacent = false;            ///< the other line of its pair is contended too
  uint64_t contended = 0;           ///< samples by competing threads; 0 unless isContended(verdict)
  uint32_t goroutines = 0;          ///< that were seen at it; 0 in programs of other languages
  std::vector<uint32_t> competing;  ///< uses, sorted
  bool competes(uint32_t use) const;
  uint64_t samplesOfCompeting() const;
};

struct JudgedTable {
  std::vector<SharingTable::CellView> cells;  ///< what the spans point into
  std::vector<JudgedLine> lines;  ///< several threads, or all where asked for; in order of first touch
  uint64_t singleThreaded = 0;    ///< lines with samples that are not in `lines`: one thread only
};

/// `all`: also lines that only one thread touched (they are private). `also`: such lines, by index, and lines
/// without samples: those have no cells and come last. `goroutines`: the same accesses of Go programs by who
/// was at work; where threads compete, goroutines tell what they share:
/// - the verdict that shares less is taken: data of a goroutine is seen with many threads, and data of a
///   thread (of a P) with many goroutines;
/// - where no goroutines compete though each was seen often enough, the line only moves with its goroutine.
JudgedTable judgeLines(const SharingTable& table, const SharingTable& goroutines, const Attribution& sites,
                       bool all, std::span<const uint32_t> also = {});

}  // namespace cacheline::analysis
