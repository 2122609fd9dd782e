// Lines that are not listed but count in the sums of objects and types: where contention is spread over more
// than 1 / kListedShare lines of an array, none of them is listed.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/hash.h"
#include "sharing/access_table.h"
#include "sharing/line_totals.h"
#include "sharing/selection.h"

namespace cacheline::sharing {

/// Calls its argument with the sums of each line.
using EachTotal = std::function<void(const std::function<void(const LineTotal&)>&)>;

/// Which lines these are: all with displayed loads; where those are too many, the ones of whole blocks of
/// memory, so that arrays stay in one piece, first of blocks whose lines have most. Lines are told by
/// positions and counts alone, which are the same in each reading.
class SummedLines {
 public:
  /// Share of displayed loads: where listed lines have as many, there are no summed ones.
  static constexpr double kEnough = 0.95;

  /// None.
  SummedLines() = default;
  /// `most`: lines, unless one block has more.
  SummedLines(const EachTotal& each, const SharedLines& shared, Display display, size_t most);

  /// `metric`: its displayed loads. True of listed lines in the same blocks, too.
  bool has(uint64_t lineOffset, uint64_t metric) const {
    return metric != 0 && (all_ || (!blocks_.empty() && blocks_.contains(lineOffset / kBlock)));
  }
  /// Whether they need rows of it: where it is shared, as a neighbour, too.
  bool needRowsOf(const LineTotal& line) const { return has(line.offset, sharedLoads(line)); }
  uint64_t lines() const { return lines_; }
  /// With displayed loads and neither listed nor summed: lines, and how many such loads they have.
  uint64_t leftLines() const { return leftLines_; }
  uint64_t leftLoads() const { return leftLoads_; }

 private:
  static constexpr uint64_t kBlock = 64 << 10;  ///< bytes
  struct Block {
    uint64_t number = 0, lines = 0, loads = 0;
  };
  void choose(std::vector<Block> blocks, size_t most);

  bool all_ = false;
  HashMap<uint64_t, bool> blocks_;
  uint64_t lines_ = 0, leftLines_ = 0, leftLoads_ = 0;
};

/// The summed ones but for `listed`, in the order of selectLines().
std::vector<SelectedLine> selectSummed(const AccessTable& table, const analysis::LineSpaces& spaces,
                                       const SummedLines& summed, Display display,
                                       const std::vector<SelectedLine>& listed);

}  // namespace cacheline::sharing
