// What was looked up lately, in a table of two probes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cacheline::sharing {

/// Keeps values by key and version, all ones in none. Two keys that fall on one place both stay. Grows with
/// its misses: they tell how much is needed at a time.
template <typename Value>
class RecentCache {
 public:
  RecentCache() : pairs_(kFewest) {}

  /// Null where it is not kept. Good until the next add().
  [[gnu::always_inline]] const Value* find(uint64_t key, uint64_t version) const {
    const Pair& pair = pairs_[placeOf(key, version)];
    // Which of the two it is cannot be foretold: no branch.
    const Slot& slot = pair[pair[0].is(key, version) ? 0 : 1];
    return slot.is(key, version) ? &slot.value : nullptr;
  }
  /// For a find() some time later.
  [[gnu::always_inline]] void prefetch(uint64_t key, uint64_t version) const {
    __builtin_prefetch(&pairs_[placeOf(key, version)]);
  }
  /// Which find() did not find.
  [[gnu::noinline]] const Value& add(uint64_t key, uint64_t version, const Value& value) {
    if (++misses_ > pairs_.size() && pairs_.size() < kMost) grow();
    return put({key, version, value});
  }
  /// Small again: what clears it all the time must not pay for its size each time.
  void clear() { resize(kFewest); }

 private:
  static constexpr size_t kFewest = 256, kMost = size_t{1} << 17;
  static constexpr uint64_t kNoVersion = ~uint64_t{0};
  struct Slot {
    uint64_t key = 0;
    uint64_t version = kNoVersion;
    Value value{};
    bool is(uint64_t ofKey, uint64_t ofVersion) const { return ((key ^ ofKey) | (version ^ ofVersion)) == 0; }
  };
  /// One cache line.
  struct alignas(64) Pair {
    std::array<Slot, 2> slots;
    Slot& operator[](size_t i) { return slots[i]; }
    const Slot& operator[](size_t i) const { return slots[i]; }
  };
  /// The upper bits of a product depend on all bits of its factors.
  size_t placeOf(uint64_t key, uint64_t version) const {
    return ((key + version * 0xd6e8feb86659fd93ull) * 0x9e3779b97f4a7c15ull) >> shift_;
  }
  const Value& put(const Slot& slot) {
    Pair& pair = pairs_[placeOf(slot.key, slot.version)];
    pair[1] = pair[0];
    pair[0] = slot;
    return pair[0].value;
  }
  /// What is kept stays: to look it up again costs more than to move it.
  void grow() {
    const std::vector<Pair> kept = std::move(pairs_);
    resize(4 * kept.size());
    for (const Pair& pair : kept)
      for (const Slot* slot : {&pair[1], &pair[0]})
        if (slot->version != kNoVersion) put(*slot);
  }
  void resize(size_t pairs) {
    pairs_ = std::vector<Pair>(pairs);
    shift_ = 64 - std::countr_zero(pairs);
    misses_ = 0;
  }

  std::vector<Pair> pairs_;  ///< a power of two
  int shift_ = 64 - std::countr_zero(kFewest);
  size_t misses_ = 0;  ///< since it has grown
};

}  // namespace cacheline::sharing
