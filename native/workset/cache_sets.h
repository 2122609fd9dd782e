// Which sets of a cache hot lines lie in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cacheline::workset {

/// A line that one thread has samples on.
struct UsedLine {
  uint64_t address = 0;  ///< of its first byte
  uint64_t samples = 0;
  uint64_t misses =
      0;  ///< of them: memory samples that the first cache did not answer, without those of sharing
};

/// Fewer samples do not make a line hot: it may be used once.
inline constexpr uint64_t kHotSamples = 4;

/// How the hot lines of one thread lie in the sets of a cache.
struct SetUse {
  uint64_t sets = 0, ways = 0;  ///< of the cache; 0: not known
  uint64_t hotLines = 0;
  uint64_t oversubscribed = 0;  ///< sets with more hot lines than ways
  uint64_t mostLines = 0;       ///< hot lines in the fullest set
  double elsewhere = 0;         ///< hot lines in one of the other sets, the mean
  uint64_t samples = 0;         ///< on hot lines of over-subscribed sets
  uint64_t misses = 0;          ///< of them
  uint64_t allSamples = 0;      ///< of the thread
  double share() const {
    return allSamples == 0 ? 0 : static_cast<double>(samples) / static_cast<double>(allSamples);
  }
};

/// A set is chosen by the address bits above those of the byte in a line, as caches with a power of two of
/// sets do. The address may be virtual where sets * lineBytes is at most a page (4096 bytes): virtual and
/// physical addresses agree there.
SetUse setUseOf(const std::vector<UsedLine>& lines, uint64_t sets, uint64_t ways, uint64_t lineBytes);

/// Some sets are over-subscribed while others have room, and that concerns a tenth of the samples.
bool isConflict(const SetUse& use);

}  // namespace cacheline::workset
