// Puts touches into the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c2c/touch.h"

namespace cacheline::c2c {

/// Times of samples are spread rather evenly: they are dealt out to as many buckets as there are touches,
/// and only what falls into one bucket is compared. O(n), at worst O(n log n). Keeps its memory.
class TouchOrder {
 public:
  void clear() { keys_.clear(); }
  /// Which stay where they are until the next clear().
  void add(std::span<const Touch> touches) {
    for (const Touch& touch : touches) keys_.push_back({touch.time, &touch});
  }
  /// Of all that were added: by time, then by order. Good until the next clear().
  std::span<const Touch* const> sorted();

 private:
  struct Key {
    uint64_t time;
    const Touch* touch;
    bool operator<(const Key& other) const {
      return time != other.time ? time < other.time : touch->order < other.touch->order;
    }
  };
  void sort();
  void sortBucket(size_t begin, size_t end);

  std::vector<Key> keys_, spare_;
  std::vector<uint32_t> ends_;  ///< of the buckets
  std::vector<const Touch*> touches_;
};

}  // namespace cacheline::c2c
