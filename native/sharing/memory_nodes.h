// NUMA nodes of physical addresses, from the header of a recording.
#pragma once

#include <cstdint>
#include <vector>

#include "perfdata/features.h"

namespace cacheline::sharing {

class MemoryNodes {
 public:
  explicit MemoryNodes(const std::vector<perfdata::MemoryNode>& nodes);
  bool known() const { return !ranges_.empty(); }
  static constexpr uint16_t kUnknown = 0xffff;
  /// Or kUnknown. For the loop over samples, where an optional would wait for its own store.
  uint16_t of(uint64_t physical) {
    Recent& recent = recent_[(physical >> kRecentBits) % kRecent];
    if (physical < recent.start || physical >= recent.end) find(physical, recent);
    return physical >= recent.start && physical < recent.end ? recent.node : kUnknown;
  }

 private:
  static constexpr size_t kRecent = 64;
  static constexpr int kRecentBits = 27;  ///< 128 MiB, the usual size of a memory block
  struct Range {
    uint64_t start = 0, end = 0;
    uint16_t node = 0;
  };
  using Recent = Range;
  void find(uint64_t physical, Recent& recent) const;

  std::vector<Range> ranges_;  ///< sorted by start
  std::vector<Recent> recent_;
};

}  // namespace cacheline::sharing
