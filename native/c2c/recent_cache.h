// What was looked up lately, in a table of two probes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace cacheline::c2c {

/// Keeps values by key and version, all ones in none. Two keys that fall on one place both stay. Grows with
/// its misses: they tell how much is needed at a time.
template <typename Value>
class RecentCache {
 public:
  RecentCache() : pairs_(kFewest) {}

  /// The value, or what `find()` returns where it is not kept. Good until the next call.
  template <typename Find>
  [[gnu::always_inline]] const Value& of(uint64_t key, uint64_t version, Find&& find) {
    Pair& pair = pairs_[mix(key, version) & mask_];
    if (pair[0].is(key, version)) [[likely]]
      return pair[0].value;
    if (pair[1].is(key, version)) return pair[1].value;
    return add({key, version, find()});
  }
  /// Small again: what clears it all the time must not pay for its size each time.
  void clear() {
    pairs_ = std::vector<Pair>(kFewest);
    mask_ = kFewest - 1;
    misses_ = 0;
  }

 private:
  static constexpr size_t kFewest = 256, kMost = size_t{1} << 17;
  struct Slot {
    uint64_t key = 0;
    uint64_t version = ~uint64_t{0};
    Value value{};
    bool is(uint64_t ofKey, uint64_t ofVersion) const { return key == ofKey && version == ofVersion; }
  };
  using Pair = std::array<Slot, 2>;
  [[gnu::noinline]] const Value& add(const Slot& slot) {
    if (++misses_ > 2 * pairs_.size() && pairs_.size() < kMost) {
      pairs_ = std::vector<Pair>(4 * pairs_.size());
      mask_ = pairs_.size() - 1;
      misses_ = 0;
    }
    Pair& pair = pairs_[mix(slot.key, slot.version) & mask_];
    pair[1] = pair[0];
    pair[0] = slot;
    return pair[0].value;
  }

  std::vector<Pair> pairs_;  ///< a power of two
  size_t mask_ = kFewest - 1;
  size_t misses_ = 0;  ///< since it has grown
};

}  // namespace cacheline::c2c
