// The samples behind a line's verdict, one by one: what a line would be like under another layout is computed
// from them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/line_verdict.h"

namespace cacheline::analysis {

struct LineHistory {
  /// Of a line with many samples some, evenly over time: see PlaceSample::weight.
  LineAccesses accesses;
  /// By use: the index of its row among Line::accesses; empty: that is not listed.
  std::vector<std::optional<uint32_t>> rows;
  /// By actor and by visitor: numbers that are the same on all lines of the report.
  std::vector<uint32_t> actors, threads;
};

}  // namespace cacheline::analysis
