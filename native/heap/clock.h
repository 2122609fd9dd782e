// From the ticks of an `allocations` file to the recording's nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heap/format.h"

namespace cacheline::heap {

/// Straight lines between moments that are known by both clocks, and beyond the first and last of them.
class Clock {
 public:
  /// Ticks that are nanoseconds already.
  Clock() = default;
  /// Anchors that do not run forward in both clocks are left out: see dropped().
  explicit Clock(std::vector<heap_anchor> anchors);

  /// False where fewer than two anchors are left.
  bool usable() const { return identity_ || anchors_.size() >= 2; }
  size_t dropped() const { return dropped_; }
  uint64_t toNs(uint64_t ticks) const;

 private:
  bool identity_ = true;
  std::vector<heap_anchor> anchors_;
  size_t dropped_ = 0;
};

}  // namespace cacheline::heap
