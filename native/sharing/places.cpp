// Code and data by address.
#include "sharing/places.h"

namespace cacheline::sharing {

using analysis::AddressSpace;
using analysis::Mapping;

Places::Code Places::codeAt(const AddressSpace& space, uint64_t ip, bool kernel, bool exact) {
  kernel = kernel || isKernelAddress(ip);
  const Mapping* mapping = kernel ? nullptr : space.mappings->find(ip);
  SampledCode location;
  location.address = ip;
  location.kernel = kernel;
  location.exact = exact;
  if (mapping != nullptr) {
    location.backing = mapping->backing;
    location.fileOffset = mapping->fileOffset(ip);
  }
  return {intern(location), kernel ? kernel_.has(ip) : mapping != nullptr};
}

uint32_t Places::intern(const SampledCode& location) {
  const auto [it, added] = siteIndex_.try_emplace(SiteKey{location.address, location.backing},
                                                  static_cast<uint32_t>(locations_.size()));
  if (added)
    locations_.push_back(location);
  else
    locations_[it->second].exact &= location.exact;
  return it->second;
}

uint32_t Places::intern(const Placement& placement) {
  const auto [it, added] = placementIndex_.try_emplace(placement, static_cast<uint32_t>(placements_.size()));
  if (added) placements_.push_back(placement);
  return it->second;
}

Placement Places::placementOf(const AddressSpace& space, const Mapping* mapping, uint64_t address) {
  if (isKernelAddress(address)) return {lineSpaces_.locateKernel(address).space, analysis::kNone, 0};
  const analysis::Position position = lineSpaces_.locate(space, mapping, address);
  const uint64_t delta = position.offset - address;
  if (lineSpaces_[position.space].shared) deltas_.emplace(position.space, delta);
  uint32_t region = analysis::kNone;
  if (mapping != nullptr || analysis::isMainStack(space, address, {}))
    // Of the main stack, which no record tells of, what is asked about first is where it begins.
    region = names_.regionOf(space, mapping,
                             mapping != nullptr ? address : address >> DataPage::kBits << DataPage::kBits);
  return {position.space, region, delta};
}

DataPage Places::dataAt(const AddressSpace& space, uint64_t address, bool kernelMode) {
  const bool kernelAddress = isKernelAddress(address);
  const Mapping* mapping = kernelAddress ? nullptr : space.mappings->find(address);
  const Placement placement = placementOf(space, mapping, address);
  DataPage page;
  page.delta = placement.delta;
  page.placement = intern(placement);
  page.space = placement.space & 0x7fffffff;
  // perf looks a sample's addresses up in the maps of its mode alone, and its "no mapping" statistic
  // follows.
  page.mapped = kernelMode ? kernelAddress && kernel_.has(address) : mapping != nullptr;
  return page;
}

}  // namespace cacheline::sharing
