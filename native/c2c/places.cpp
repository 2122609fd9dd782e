// Code and data by address.
#include "c2c/places.h"

#include <algorithm>

namespace cacheline::c2c {

using analysis::AddressSpace;
using analysis::Mapping;

void Places::onKernelMmap(const perfdata::Mmap& record) {
  const uint64_t end =
      record.address + record.length < record.address ? ~uint64_t{0} : record.address + record.length;
  if (end == record.address) return;
  const auto at = std::upper_bound(kernelRanges_.begin(), kernelRanges_.end(), record.address,
                                   [](uint64_t start, const Range& range) { return start < range.start; });
  kernelRanges_.insert(at, {record.address, end});
}

bool Places::kernelMapped(uint64_t address) const {
  const auto after = std::upper_bound(kernelRanges_.begin(), kernelRanges_.end(), address,
                                      [](uint64_t start, const Range& range) { return start < range.start; });
  return after != kernelRanges_.begin() && address < std::prev(after)->end;
}

Places::CodeSlot Places::findCode(const AddressSpace& space, uint64_t ip, bool kernel, bool exact) {
  const uint64_t version = versionOf(space, kernel);
  kernel = kernel || isKernelAddress(ip);
  const Mapping* mapping = kernel ? nullptr : space.mappings->find(ip);
  CodeSite site;
  site.address = ip;
  site.kernel = kernel;
  site.exact = exact;
  if (mapping != nullptr) {
    site.backing = mapping->backing;
    site.fileOffset = mapping->fileOffset(ip);
  }
  const CodeSlot slot = {ip, version, intern(site), kernel ? kernelMapped(ip) : mapping != nullptr};
  // An instruction takes a slot a process: misses tell what is needed, not the number of instructions.
  if (++found_ > codeCache_.size() && codeCache_.size() < kMostCodeSlots) {
    codeCache_ = std::vector<CodeSlot>(4 * codeCache_.size());
    found_ = 0;
  }
  codeCache_[mix(ip, version) & (codeCache_.size() - 1)] = slot;
  return slot;
}

uint32_t Places::intern(const CodeSite& site) {
  const auto [it, added] =
      siteIndex_.try_emplace(SiteKey{site.address, site.backing}, static_cast<uint32_t>(sites_.size()));
  if (added) sites_.push_back(site);
  return it->second;
}

DataPage Places::locate(const AddressSpace& space, uint64_t address, bool kernelMode) {
  DataPage data;
  data.region = analysis::kNone;
  if (isKernelAddress(address)) {
    data.space = lineSpaces_.locateKernel(address).space;
    // perf looks a sample's addresses up in the maps of its mode alone, and its "no mapping" statistic
    // follows.
    data.mapped = kernelMode && kernelMapped(address);
    return data;
  }
  const Mapping* mapping = space.mappings->find(address);
  const analysis::Position position = lineSpaces_.locate(space, mapping, address);
  data.space = position.space;
  data.delta = position.offset - address;
  data.mapped = mapping != nullptr && !kernelMode;
  if (mapping != nullptr || analysis::isMainStack(space, address, {}))
    data.region = names_.regionOf(space, mapping, address);
  return data;
}

}  // namespace cacheline::c2c
