// Who calls the sampled code: call chains by sampled instruction.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"

namespace cacheline::c2c {

class CallerTable {
 public:
  static constexpr size_t kMaxFrames = 16;     ///< of a chain; callers further out are left out
  static constexpr size_t kMaxChains = 65536;  ///< of a recording

  struct Chain {
    std::vector<uint32_t> frames;  ///< sites, innermost caller first
    uint64_t records = 0, hitm = 0;
  };

  /// One sample at `site`. Beyond kMaxChains only chains already known are counted.
  void add(uint32_t site, std::span<const uint32_t> frames, bool hitm);
  /// Chains of a site, most samples first.
  std::vector<Chain> of(uint32_t site) const;
  uint64_t leftOut() const { return leftOut_; }  ///< samples

 private:
  HashMap<std::string, uint32_t> index_;  ///< by the bytes of site and frames
  std::vector<Chain> chains_;
  HashMap<uint32_t, std::vector<uint32_t>> bySite_;
  uint64_t leftOut_ = 0;
};

}  // namespace cacheline::c2c
