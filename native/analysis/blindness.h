// What a recording could not see: samples of which nothing can be said, by reason and by place. Samples
// without a memory operand or of thread-local data are none of them: they say that nothing is shared there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution.h"
#include "analysis/binaries.h"
#include "analysis/report.h"
#include "analysis/timeline.h"

namespace cacheline::analysis {

/// Below this share of the samples, a report says nothing of blindness.
inline constexpr double kBlindShare = 0.1;

/// Samples of one reason, in code of one kind.
struct UnseenSum {
  UnseenReason reason = UnseenReason::kernel;
  std::string what;  ///< as BlindReason::what
  uint64_t samples = 0;
};
inline constexpr const char* kLostSamples = "samples that were lost while recording";

/// `all`: every sample, with those that are known to be lost. Empty below kBlindShare.
std::optional<Blind> blindOf(std::vector<UnseenSum> sums, uint64_t all);

/// Counts the samples of a clock recording of which nothing can be said, by code. Its size is bounded by
/// locations and mapped files.
class UnseenSamples {
 public:
  void withoutRegisters() { ++withoutRegisters_; }
  /// In code that is no binary's; `code` null: in no known mapping.
  void withoutFile(const AddressSpace& space, const Mapping* code) {
    if (code == nullptr)
      ++outsideMappings_;
    else
      ++withoutFile_[{code->backing, space.runtime}];
  }
  /// noInstruction, clobbered or unmapped.
  void at(UnseenReason reason, uint32_t location) {
    std::vector<uint64_t>& counts = bySite_[static_cast<size_t>(reason)];
    if (counts.size() <= location) counts.resize(location + size_t{1});
    ++counts[location];
  }

 private:
  friend class UnseenSummary;
  uint64_t withoutRegisters_ = 0, outsideMappings_ = 0;
  std::map<std::pair<uint32_t, const char*>, uint64_t> withoutFile_;  ///< by backing and runtime
  std::vector<uint64_t> bySite_[static_cast<size_t>(UnseenReason::lost)];
};

/// Fills `blind` and `unseen` of `report`, which has all sums of samples. `lost`: samples.
void addUnseen(const UnseenSamples& unseen, const Attribution& locations, Binaries& binaries,
               const Timeline& timeline, uint64_t lost, Report& report);

}  // namespace cacheline::analysis
