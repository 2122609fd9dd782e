// Where code and data lie: from (process, address) to the line space and to the sampled instruction.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "analysis/data_names.h"
#include "analysis/line_space.h"
#include "analysis/timeline.h"
#include "base/hash.h"
#include "sharing/kernel_ranges.h"
#include "sharing/memory_access.h"

namespace cacheline::sharing {

/// A process with its mappings as they are now.
inline uint64_t versionOf(const analysis::AddressSpace& space) {
  return uint64_t{space.id} << 32 | space.generation;
}
/// The same for kernel mode or user mode.
inline uint64_t versionOf(uint64_t version, bool kernelMode) {
  return version ^ (uint64_t{kernelMode} << 63);
}

/// One sampled instruction.
struct SampledCode {
  uint64_t address = 0;     ///< in the process
  uint64_t fileOffset = 0;  ///< in `backing`
  uint32_t backing = analysis::kNone;
  bool kernel = false;
  bool exact = false;  ///< all samples said that their IP is the accessing instruction
};

/// Where one page of data lies.
struct DataPage {
  uint64_t delta = 0;       ///< of the placement
  uint32_t placement = 0;   ///< see Places::placements()
  uint32_t space : 31 = 0;  ///< of the placement
  uint32_t mapped : 1 = 0;  ///< in the mode of the access, where perf looks
  static constexpr int kBits = 12;
};

class Places {
 public:
  Places(const analysis::Timeline& timeline, analysis::LineSpaces& lineSpaces, analysis::DataNames& names)
      : lineSpaces_(lineSpaces), names_(names) {
    for (const perfdata::Mmap& record : timeline.kernelMappings()) kernel_.add(record);
  }

  /// Where one instruction lies.
  struct Code {
    uint32_t location = 0;  ///< index
    bool mapped = false;    ///< whether a mapping is known there
  };

  Code codeAt(const analysis::AddressSpace& space, uint64_t ip, bool kernel, bool exact);
  /// The page of `address`.
  DataPage dataAt(const analysis::AddressSpace& space, uint64_t address, bool kernelMode);
  /// Number of a placement.
  uint32_t intern(const Placement& placement);
  const SampledCode& location(uint32_t index) const { return locations_[index]; }
  /// Of all pages that were asked about. Their region is kNone where nothing is known to be mapped.
  const std::vector<Placement>& placements() const { return placements_; }
  /// Of shared spaces: space, and position - address of a page that was asked about.
  const std::set<std::pair<uint32_t, uint64_t>>& deltas() const { return deltas_; }

 private:
  struct SiteKey {
    uint64_t address = 0;
    uint32_t backing = 0;
    bool operator==(const SiteKey&) const = default;
    size_t hash() const { return mix(address, backing); }
  };
  uint32_t intern(const SampledCode& location);
  /// Without its region. `mapping`: null for kernel addresses and where there is none.
  Placement placementOf(const analysis::AddressSpace& space, const analysis::Mapping* mapping,
                        uint64_t address);

  analysis::LineSpaces& lineSpaces_;
  analysis::DataNames& names_;
  HashMap<SiteKey, uint32_t> siteIndex_;
  std::vector<SampledCode> locations_;
  HashMap<Placement, uint32_t> placementIndex_;
  std::vector<Placement> placements_;
  std::set<std::pair<uint32_t, uint64_t>> deltas_;
  KernelRanges kernel_;  ///< code and modules
};

}  // namespace cacheline::sharing
