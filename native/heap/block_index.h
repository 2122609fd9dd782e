// Which block held an address at a time: blocks over an address range of their process and a span of time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "heap/allocations.h"

namespace cacheline::heap {

/// A block's range is cut into aligned pieces of power-of-two sizes, at most two of a size. The blocks with
/// the same piece follow one another in time, so one binary search for each size finds the one that is asked
/// for, however many blocks lay there before and after, and however long other blocks near it are.
class BlockIndex {
 public:
  void add(uint32_t number, const Block& block);
  /// After the last add(). `images` has the process image of each block.
  void build(const std::vector<Block>& blocks, const std::vector<uint32_t>& images);

  /// The block that was allocated last of those of `image` that hold `address` at `time`; ~0 where there is
  /// none. O(log n) for each of the sizes in use.
  uint32_t find(uint32_t image, uint64_t address, uint64_t time, const std::vector<Block>& blocks,
                const std::vector<uint32_t>& images) const;

 private:
  struct Entry {
    uint64_t piece;
    uint32_t block;
  };
  /// [k]: pieces of 2^k granules.
  std::array<std::vector<Entry>, 64> sizes_;
};

}  // namespace cacheline::heap
