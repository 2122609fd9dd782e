// Puts accesses into the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sharing/memory_access.h"

namespace cacheline::sharing {

/// Times of samples are spread rather evenly: they are dealt out to as many buckets as there are accesses,
/// and only what falls into one bucket is compared. O(n), at worst O(n log n). Keeps its memory.
class AccessOrder {
 public:
  void clear() { keys_.clear(); }
  /// Which stay where they are until the next clear().
  void add(std::span<const MemoryAccess> accesses) {
    for (const MemoryAccess& access : accesses) keys_.push_back({access.time, &access});
  }
  /// Of all that were added: by time, then by order. Good until the next clear().
  std::span<const MemoryAccess* const> sorted();

 private:
  struct Key {
    uint64_t time;
    const MemoryAccess* access;
    bool operator<(const Key& other) const {
      return time != other.time ? time < other.time : access->order < other.access->order;
    }
  };
  void sort();
  void sortBucket(size_t begin, size_t end);

  std::vector<Key> keys_, spare_;
  std::vector<uint32_t> ends_;  ///< of the buckets
  std::vector<const MemoryAccess*> accesses_;
};

}  // namespace cacheline::sharing
