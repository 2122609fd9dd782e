// Lines of blocks and variables.
#include "workset/upper_bounds.h"

#include "workset/workset.h"

namespace cacheline::workset {

UpperBounds::UpperBounds(const analysis::Report& report) : report_(report) {
  if (!report.heapSites) return;
  for (size_t i = 0; i < report.heapSites->size(); ++i)
    sites_.emplace(originOf((*report.heapSites)[i].origin), i);
}

UpperBounds::Origin UpperBounds::originOf(const analysis::HeapBlock& block) {
  return {block.function, block.place.file, block.place.line};
}

void UpperBounds::add(const analysis::Line& line, const analysis::Access& access, DataBounds& bounds) const {
  const analysis::DataName& data = access.data;
  if (data.variableBytes) {
    bounds.variables.emplace(line.space, line.address + access.offset - data.offset, *data.variableBytes);
    return;
  }
  const auto site = data.allocation ? sites_.find(originOf(*data.allocation)) : sites_.end();
  if (site == sites_.end()) {
    ++bounds.elsewhere;
    return;
  }
  bounds.sites.insert(site->second);
  bounds.spaces.insert(line.space);
}

void UpperBounds::finish(const DataBounds& bounds, DataSet& set) const {
  if (bounds.elsewhere > 0) {
    set.atMostReason = report_.heapSites ? "some of it lies outside of the recorded heap blocks and variables"
                                         : "the recording has no heap blocks";
    return;
  }
  if (bounds.spaces.size() > 1) {
    set.atMostReason = "several processes use it, and memory that a child inherits is not counted";
    return;
  }
  uint64_t lines = 0, peak = 0;
  for (const size_t index : bounds.sites) {
    const analysis::HeapSite& site = (*report_.heapSites)[index];
    if (!site.incomplete.empty()) {
      set.atMostReason = site.incomplete;
      return;
    }
    lines += site.lines;
    peak += site.peakBytes;
  }
  for (const auto& [space, address, bytes] : bounds.variables)
    lines += (address + bytes - 1) / report_.lineSize - address / report_.lineSize + 1;
  set.atMost = lines;
  if (!bounds.sites.empty()) set.peakBytes = peak;
}

}  // namespace cacheline::workset
