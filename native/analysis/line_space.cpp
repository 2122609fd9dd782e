// Spaces of cache lines.
#include "analysis/line_space.h"

#include <cstdio>
#include <tuple>

namespace cacheline::analysis {

std::string LineSpace::label() const {
  if (kernel) return "kernel";
  if (!shared) return "pid " + std::to_string(pid);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "file %02x:%02x:%llu", file.major, file.minor,
                static_cast<unsigned long long>(file.inode));
  return buffer;
}

Position LineSpaces::locate(const AddressSpace& space, const Mapping* mapping, uint64_t address) {
  if (mapping != nullptr && timeline_.backing(mapping->backing).shared)
    return {ofBacking(mapping->backing), mapping->fileOffset(address)};
  return {ofProcess(space), address};
}

Position LineSpaces::locateKernel(uint64_t address) {
  if (kernel_ == kNone) {
    kernel_ = static_cast<uint32_t>(list_.size());
    list_.push_back({.shared = false, .kernel = true, .pid = 0, .id = 0, .incarnation = 0, .file = {}});
  }
  return {kernel_, address};
}

bool LineSpaces::isBefore(uint32_t a, uint32_t b) const {
  const auto order = [](const LineSpace& space) {
    return std::tie(space.kernel, space.shared, space.pid, space.id, space.file.major, space.file.minor,
                    space.file.inode, space.file.name);
  };
  return order(list_[a]) < order(list_[b]);
}

uint32_t LineSpaces::ofProcess(const AddressSpace& space) {
  const auto [known, isNew] = byProcess_.try_emplace(space.id, static_cast<uint32_t>(list_.size()));
  if (isNew)
    list_.push_back({.shared = false,
                     .kernel = false,
                     .pid = space.pid,
                     .id = space.id,
                     .incarnation = space.incarnation,
                     .file = {}});
  return known->second;
}

uint32_t LineSpaces::ofBacking(uint32_t backing) {
  if (byBacking_.size() <= backing) byBacking_.resize(backing + 1, kNone);
  uint32_t& index = byBacking_[backing];
  if (index != kNone) return index;
  return index = ofFile(timeline_.backing(backing));
}

uint32_t LineSpaces::ofFile(const Backing& file) {
  // One file can have several backings (names, build ids). Where the record carries no inode (MMAP2 with a
  // build id in its place), the name has to do.
  const bool numbered = file.inode != 0 || file.major != 0 || file.minor != 0;
  std::string key = numbered ? std::to_string(file.major) + ':' + std::to_string(file.minor) + ':' +
                                   std::to_string(file.inode)
                             : file.name;
  const auto [it, added] = byFile_.try_emplace(std::move(key), static_cast<uint32_t>(list_.size()));
  if (added)
    list_.push_back({.shared = true, .kernel = false, .pid = 0, .id = 0, .incarnation = 0, .file = file});
  return it->second;
}

}  // namespace cacheline::analysis
