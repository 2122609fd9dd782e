// NUMA nodes of physical addresses, from the header of a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "perfdata/features.h"

namespace cacheline::c2c {

class MemoryNodes {
 public:
  explicit MemoryNodes(const std::vector<perfdata::MemoryNode>& nodes);
  bool known() const { return !ranges_.empty(); }
  std::optional<uint16_t> of(uint64_t physical);

 private:
  struct Range {
    uint64_t start = 0, end = 0;
    uint16_t node = 0;
  };
  std::vector<Range> ranges_;  ///< sorted by start
  Range last_;
};

}  // namespace cacheline::c2c
