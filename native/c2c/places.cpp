// Code and data by address.
#include "c2c/places.h"

namespace cacheline::c2c {

using analysis::AddressSpace;
using analysis::Mapping;

Places::Code Places::codeAt(const AddressSpace& space, uint64_t ip, bool kernel, bool exact) {
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
  return {intern(site), kernel ? kernel_.has(ip) : mapping != nullptr};
}

uint32_t Places::intern(const CodeSite& site) {
  const auto [it, added] =
      siteIndex_.try_emplace(SiteKey{site.address, site.backing}, static_cast<uint32_t>(sites_.size()));
  if (added)
    sites_.push_back(site);
  else
    sites_[it->second].exact &= site.exact;
  return it->second;
}

DataPage Places::pageOf(const AddressSpace& space, const Mapping* mapping, uint64_t address,
                        bool kernelMode) {
  DataPage page;
  if (isKernelAddress(address)) {
    page.space = lineSpaces_.locateKernel(address).space;
    // perf looks a sample's addresses up in the maps of its mode alone, and its "no mapping" statistic
    // follows.
    page.mapped = kernelMode && kernel_.has(address);
    return page;
  }
  const analysis::Position position = lineSpaces_.locate(space, mapping, address);
  page.space = position.space;
  page.delta = position.offset - address;
  page.mapped = mapping != nullptr && !kernelMode;
  if (lineSpaces_[page.space].shared) deltas_.emplace(page.space, page.delta);
  return page;
}

DataPage Places::dataAt(const AddressSpace& space, uint64_t address, bool kernelMode) {
  const Mapping* mapping = isKernelAddress(address) ? nullptr : space.mappings->find(address);
  DataPage page = pageOf(space, mapping, address, kernelMode);
  if (mapping != nullptr || (!isKernelAddress(address) && analysis::isMainStack(space, address, {})))
    // Of the main stack, which no record tells of, what is asked about first is where it begins.
    page.region = names_.regionOf(
        space, mapping, mapping != nullptr ? address : address >> DataPage::kBits << DataPage::kBits);
  return page;
}

}  // namespace cacheline::c2c
