// Who calls the sampled code: call chains by what was sampled.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "base/hash.h"

namespace cacheline::analysis {

class CallerTable {
 public:
  static constexpr size_t kMaxFrames = 16;     ///< of a chain; callers further out are left out
  static constexpr size_t kMaxChains = 65536;  ///< of a recording

  /// The calls of a sample's chain, innermost first: take(address in the call, whether it is the kernel's).
  template <typename Take>
  static void eachCall(std::span<const uint64_t> chain, const Take& take);

  /// One sample at `key`. Beyond kMaxChains only chains already known are counted.
  void add(uint32_t key, std::span<const uint32_t> frames, bool hitm) { add(key, frames, 1, hitm ? 1 : 0); }
  /// What another one counted; its frames are numbered as this one's.
  void add(const CallerTable& other);
  /// The chains of a key, most samples first, then by the addresses of the frames; some few.
  std::vector<Callers> of(uint32_t key, const std::function<uint64_t(uint32_t frame)>& addressOf,
                          const std::function<CallerFrame(uint32_t frame)>& nameOf) const;
  /// Of samples that are counted under no caller; empty: none are.
  std::string leftOutWarning() const;

 private:
  struct Chain {
    uint32_t key = 0;
    std::vector<uint32_t> frames;  ///< innermost caller first
    uint64_t records = 0, hitm = 0;
  };
  void add(uint32_t key, std::span<const uint32_t> frames, uint64_t records, uint64_t hitm);

  HashMap<std::string, uint32_t> index_;  ///< by the bytes of key and frames
  std::vector<Chain> chains_;
  HashMap<uint32_t, std::vector<uint32_t>> byKey_;
  uint64_t leftOut_ = 0;  ///< samples
  std::string bytes_;     ///< of the chain at hand
};

template <typename Take>
void CallerTable::eachCall(std::span<const uint64_t> chain, const Take& take) {
  bool kernel = false, first = true;
  size_t frames = 0;
  for (const uint64_t address : chain) {
    if (address >= static_cast<uint64_t>(PERF_CONTEXT_MAX)) {  // a marker: whose frames follow
      kernel = address == static_cast<uint64_t>(PERF_CONTEXT_KERNEL);
      continue;
    }
    if (first) {  // the sampled instruction itself
      first = false;
      continue;
    }
    if (frames++ == kMaxFrames) return;
    take(address - 1, kernel);  // a return address: the call is before it, maybe on another line
  }
}

/// `address`: in the call.
CallerFrame callerFrame(uint64_t address, const CodeName& name);

}  // namespace cacheline::analysis
