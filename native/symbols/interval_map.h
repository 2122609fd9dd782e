// Sorted look-up over address intervals that may nest and overlap: the one index behind symbols, units,
// inlines, variables.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cacheline::symbols {

struct Interval {
  uint64_t low = 0, high = 0;  ///< [low, high); empty ones are ignored
  uint64_t priority = 0;       ///< where intervals overlap the higher priority wins, on a tie the lower id
  uint32_t id = 0;             ///< what find() answers; below kNoId
};

/// Flattens n intervals into at most 2n disjoint ones, once, in O(n log n); find() is a binary search.
class IntervalMap {
 public:
  IntervalMap() = default;
  explicit IntervalMap(std::vector<Interval> intervals);

  /// The id of the winning interval that covers the address.
  std::optional<uint32_t> find(uint64_t address) const;
  bool empty() const { return starts_.empty(); }

 private:
  static constexpr uint32_t kNoId = UINT32_MAX;  ///< marks a gap
  void append(uint64_t start, uint32_t id);

  std::vector<uint64_t> starts_;  ///< ascending; piece i reaches to starts_[i + 1], the last one is a gap
  std::vector<uint32_t> ids_;
};

}  // namespace cacheline::symbols
