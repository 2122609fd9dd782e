// A hash index over items that live elsewhere: eight bytes an item and slot, linear probing. Prefetching its
// slots is what lets a batch of look-ups overlap their cache misses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/large_memory.h"

namespace cacheline::sharing {

inline constexpr uint32_t kNone = ~0u;

class DenseIndex {
 public:
  DenseIndex() { resize(kSmallest); }

  void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask()]); }

  /// The item with this hash for which `equals(index)`; kNone where there is none.
  template <typename Equals>
  uint32_t find(uint64_t hash, Equals&& equals) const {
    const auto tag = static_cast<uint32_t>(hash >> 32);
    for (size_t at = hash & mask(); slots_[at].index != kNone; at = (at + 1) & mask())
      if (slots_[at].tag == tag && equals(slots_[at].index)) return slots_[at].index;
    return kNone;
  }
  /// The item whose tag matches first: the wanted one nearly always, but its key must be compared.
  uint32_t guess(uint64_t hash) const {
    return find(hash, [](uint32_t) { return true; });
  }
  /// `index` is not there yet. `hashOf(index)` of any item, for when the table grows.
  template <typename HashOf>
  void insert(uint64_t hash, uint32_t index, HashOf&& hashOf) {
    if (++size_ * 8 > capacity_ * (capacity_ < kSparse ? 2 : 5)) {
      const Slot *const oldSlots = slots_, *const end = slots_ + capacity_;
      const LargeMemory old = resize(capacity_ * 2);
      for (const Slot* slot = oldSlots; slot != end; ++slot)
        if (slot->index != kNone) put(hashOf(slot->index), slot->index);
    }
    put(hash, index);
  }

 private:
  static constexpr size_t kSmallest = 512;    // a page
  static constexpr size_t kSparse = 1 << 14;  // up to here the first slot is nearly always the right one
  struct Slot {
    uint32_t tag, index;
  };
  size_t mask() const { return capacity_ - 1; }
  /// Empties it. The memory that it had.
  LargeMemory resize(size_t capacity) {
    LargeMemory memory(capacity * sizeof(Slot));  // may throw: before anything is given up
    std::swap(memory, memory_);
    slots_ = static_cast<Slot*>(memory_.data());
    capacity_ = capacity;
    std::fill_n(slots_, capacity, Slot{0, kNone});
    return memory;
  }
  void put(uint64_t hash, uint32_t index) {
    size_t at = hash & mask();
    while (slots_[at].index != kNone) at = (at + 1) & mask();
    slots_[at] = {static_cast<uint32_t>(hash >> 32), index};
  }

  LargeMemory memory_;
  Slot* slots_ = nullptr;
  size_t capacity_ = 0, size_ = 0;
};

}  // namespace cacheline::sharing
