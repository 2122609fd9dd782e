// Heap blocks added up by where they were allocated.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/heap_blocks.h"

namespace cacheline::analysis {

namespace {

/// Of one site, while blocks are added up.
struct SiteBlocks {
  struct Change {
    uint64_t time = 0;
    int64_t bytes = 0;
    /// What is freed at a time makes room for what is allocated then.
    auto operator<=>(const Change&) const = default;
  };
  struct Extent {
    uint32_t pid = 0;
    uint64_t first = 0, last = 0;  ///< numbers of lines
    auto operator<=>(const Extent&) const = default;
  };
  HeapSite site;
  uint64_t smallest = ~uint64_t{0};  ///< bytes
  std::vector<Change> changes;
  std::vector<Extent> extents;
};

uint64_t peakOf(std::vector<SiteBlocks::Change>& changes) {
  std::sort(changes.begin(), changes.end());
  int64_t bytes = 0, peak = 0;
  for (const SiteBlocks::Change& change : changes) peak = std::max(peak, bytes += change.bytes);
  return static_cast<uint64_t>(peak);
}

uint64_t linesOf(std::vector<SiteBlocks::Extent>& extents) {
  std::sort(extents.begin(), extents.end());
  uint64_t lines = 0, next = 0;  // the first line that is not counted yet
  uint32_t pid = 0;
  for (const SiteBlocks::Extent& extent : extents) {
    if (extent.pid != std::exchange(pid, extent.pid)) next = 0;
    const uint64_t first = std::max(extent.first, next);
    if (extent.last < first) continue;
    lines += extent.last - first + 1;
    next = extent.last + 1;
  }
  return lines;
}

}  // namespace

/// `smallest`: of the blocks of a site, bytes.
std::string HeapBlocks::incompleteness(uint64_t smallest) const {
  if (allocations_->lost() > 0)
    return std::to_string(allocations_->lost()) + " heap blocks were not recorded";
  if (allocations_->sampling() > 1 && smallest < allocations_->alwaysRecordedFrom())
    return "not all blocks below " + std::to_string(allocations_->alwaysRecordedFrom()) +
           " bytes were recorded";
  return {};
}

std::optional<std::vector<HeapSite>> HeapBlocks::sites(uint32_t lineSize) {
  if (allocations_ == nullptr) return std::nullopt;
  using Origin = std::tuple<std::string, std::string, uint32_t>;  // function, file, line
  std::map<Origin, SiteBlocks> sites;
  std::map<std::pair<uint32_t, uint32_t>, SiteBlocks*> known;  // by address space and number of the stack
  AddressSpaces spaces(timeline_);
  for (const heap::Block& block : allocations_->all()) {
    if (block.size == 0) continue;
    const AddressSpace& space = spaces.at(block.pid, {block.allocated, ~uint64_t{0}});
    SiteBlocks*& found = known[{space.id, block.stack}];
    if (found == nullptr) {
      HeapBlock origin;
      nameOrigin(stacks_[stackOf(space, block.stack)], origin);
      found = &sites[{origin.function, origin.place.file, origin.place.line}];
      found->site.origin = std::move(origin);
    }
    ++found->site.blocks;
    found->smallest = std::min(found->smallest, block.size);
    found->changes.push_back({block.allocated, static_cast<int64_t>(block.size)});
    if (block.freed != ~uint64_t{0})
      found->changes.push_back({block.freed, -static_cast<int64_t>(block.size)});
    const uint64_t end = block.address + std::min(block.size, ~block.address);
    found->extents.push_back({block.pid, block.address / lineSize, (end - 1) / lineSize});
  }
  std::vector<HeapSite> list;
  for (auto& [origin, each] : sites) {
    each.site.peakBytes = peakOf(each.changes);
    each.site.lines = linesOf(each.extents);
    each.site.incomplete = incompleteness(each.smallest);
    list.push_back(std::move(each.site));
  }
  return list;
}

}  // namespace cacheline::analysis
