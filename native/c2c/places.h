// Where code and data lie: a cached way from (process, address) to the line space and to the sampled
// instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/address_space.h"
#include "analysis/data_names.h"
#include "analysis/line_space.h"
#include "base/hash.h"

namespace cacheline::c2c {

/// One sampled instruction.
struct CodeSite {
  uint64_t address = 0;     ///< in the process
  uint64_t fileOffset = 0;  ///< in `backing`
  uint32_t backing = analysis::kNone;
  bool kernel = false;
  bool exact = false;  ///< the sample said that its IP is the accessing instruction
};

/// Where one page of data lies.
struct DataPage {
  uint32_t space = 0;   ///< of lines
  uint32_t region = 0;  ///< see DataNames; kNone: nothing is known to be mapped there
  uint64_t delta = 0;   ///< position in the space - address
  bool mapped = false;
};

class Places {
 public:
  Places(const analysis::AddressSpaces& spaces, analysis::LineSpaces& lineSpaces, analysis::DataNames& names)
      : spaces_(spaces),
        lineSpaces_(lineSpaces),
        names_(names),
        codeCache_(kCodeSlots),
        pageCache_(kPageSlots) {}

  /// Kernel code and modules, from the MMAP records of the kernel.
  void onKernelMmap(const perfdata::Mmap& record);

  /// Index of the instruction at `ip`; `mapped` says whether a mapping is known there.
  uint32_t codeAt(const analysis::AddressSpace& space, uint64_t ip, bool kernel, bool exact, bool& mapped) {
    const uint64_t version = versionOf(space, kernel);
    CodeSlot slot = codeCache_[mix(ip, version) & (codeCache_.size() - 1)];
    if (slot.ip != ip || slot.version != version) slot = findCode(space, ip, kernel, exact);
    mapped = slot.mapped;
    return slot.site;
  }
  const DataPage& dataAt(const analysis::AddressSpace& space, uint64_t address, bool kernelMode) {
    const uint64_t page = address >> kPageBits;
    const uint64_t version = versionOf(space, kernelMode);
    PageSlot& slot = pageCache_[mix(page, version) % kPageSlots];
    if (slot.page != page || slot.version != version)
      slot = {page, version, locate(space, address, kernelMode)};
    return slot.data;
  }
  const CodeSite& site(uint32_t index) const { return sites_[index]; }

 private:
  struct SiteKey {
    uint64_t address = 0;
    uint32_t backing = 0;
    bool operator==(const SiteKey&) const = default;
    size_t hash() const { return mix(address, backing); }
  };
  struct CodeSlot {
    uint64_t ip = 0;
    uint64_t version = ~uint64_t{0};  ///< of the address space
    uint32_t site = 0;
    bool mapped = false;
  };
  struct PageSlot {
    uint64_t page = 0;
    uint64_t version = ~uint64_t{0};
    DataPage data;
  };
  struct Range {
    uint64_t start = 0, end = 0;
  };
  static constexpr size_t kCodeSlots = 4096, kMostCodeSlots = size_t{1} << 18, kPageSlots = 4096;
  static constexpr int kPageBits = 12;
  static uint64_t versionOf(const analysis::AddressSpace& space, bool kernel) {
    return (uint64_t{space.id} << 32 | space.generation) ^ (kernel ? uint64_t{1} << 63 : 0);
  }
  CodeSlot findCode(const analysis::AddressSpace& space, uint64_t ip, bool kernel, bool exact);
  uint32_t intern(const CodeSite& site);
  bool kernelMapped(uint64_t address) const;
  DataPage locate(const analysis::AddressSpace& space, uint64_t address, bool kernelMode);

  const analysis::AddressSpaces& spaces_;
  analysis::LineSpaces& lineSpaces_;
  analysis::DataNames& names_;
  std::vector<CodeSlot> codeCache_;  ///< grows with what is looked up: a power of two
  size_t found_ = 0;                 ///< by findCode() since it has grown
  std::vector<PageSlot> pageCache_;
  HashMap<SiteKey, uint32_t> siteIndex_;
  std::vector<CodeSite> sites_;
  std::vector<Range> kernelRanges_;  ///< sorted by start
};

/// The upper half of a 64-bit address space is the kernel's.
inline bool isKernelAddress(uint64_t address) {
  return (address >> 63) != 0;
}

}  // namespace cacheline::c2c
