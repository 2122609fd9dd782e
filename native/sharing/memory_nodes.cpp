// Physical addresses to nodes.
#include "sharing/memory_nodes.h"

#include <algorithm>

namespace cacheline::sharing {

MemoryNodes::MemoryNodes(const std::vector<perfdata::MemoryNode>& nodes) : recent_(kRecent) {
  for (const perfdata::MemoryNode& node : nodes)
    for (const auto& [start, end] : node.ranges)
      if (node.node < kUnknown) ranges_.push_back({start, end, static_cast<uint16_t>(node.node)});
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.start < b.start; });
}

void MemoryNodes::find(uint64_t physical, Recent& recent) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), physical,
                       [](uint64_t address, const Range& range) { return address < range.start; });
  if (after != ranges_.begin() && physical < std::prev(after)->end) recent = *std::prev(after);
}

}  // namespace cacheline::sharing
