// From lines that are not listed to the sums of objects and types.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/typed_rows.h"
#include "sharing/code.h"
#include "sharing/memory_collector.h"
#include "sharing/memory_lines.h"
#include "sharing/selection.h"

namespace cacheline::sharing {

/// There may be many of them, each with some ten rows: of a place, those that count for the same things are
/// added together before anyone asks what they touch.
class SummedRows {
 public:
  /// `cycles`: whether samples carry them.
  SummedRows(MemoryCollector& collector, Code& code, MemoryLines& lines, Display display, bool cycles)
      : collector_(collector), code_(code), lines_(lines), display_(display), cycles_(cycles) {}

  void add(const std::vector<SelectedLine>& lines, analysis::TypedRows& rows);

 private:
  struct Alike {
    const Row* row;        ///< the first
    uint32_t width, kind;  ///< bytes, 0: unknown; of the evidence, see ObjectEvidence::kindAt()
    AggregateSums sums;
    std::vector<const BitSet*> users;
    analysis::Access waits;  ///< what it waits for, and nothing else
  };
  struct Numbered {
    const Row* row;
    uint32_t number;  ///< in the line's list
  };
  void join(const Numbered& numbered, const LineJudgement& judgement);
  /// Those of one place.
  void addAlike(const Line& line, analysis::TypedRows& rows);

  MemoryCollector& collector_;
  Code& code_;
  MemoryLines& lines_;
  const Display display_;
  const bool cycles_;
  std::vector<Numbered> rows_;  ///< of the line at hand
  std::vector<Alike> alike_;    ///< of the place at hand
};

}  // namespace cacheline::sharing
