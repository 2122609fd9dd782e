// A vector that grows without moving what it holds, and so without ever holding it twice.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "base/large_memory.h"

namespace cacheline::c2c {

template <typename T>
class Chunks {
 public:
  Chunks() = default;
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;
  ~Chunks() {
    for (size_t i = 0; i < size_; ++i) (*this)[i].~T();
  }

  size_t size() const { return size_; }
  T& operator[](size_t index) { return items_[index >> kBits][index & kMask]; }
  const T& operator[](size_t index) const { return items_[index >> kBits][index & kMask]; }
  template <typename... Arguments>
  T& add(Arguments&&... arguments) {
    if (size_ >> kBits == items_.size()) {
      // A small table stays small: only what is larger than a chunk is worth a huge page.
      chunks_.emplace_back(kChunk * sizeof(T), !chunks_.empty());
      items_.push_back(static_cast<T*>(chunks_.back().data()));
    }
    T* item = new (&(*this)[size_]) T{std::forward<Arguments>(arguments)...};
    ++size_;
    return *item;
  }

 private:
  static constexpr size_t bitsFor(size_t itemSize) {
    size_t bits = 0;
    while ((itemSize << (bits + 1)) <= LargeMemory::kHugePage) ++bits;
    return bits;
  }
  static constexpr size_t kBits = bitsFor(sizeof(T)), kChunk = size_t{1} << kBits, kMask = kChunk - 1;
  std::vector<LargeMemory> chunks_;
  std::vector<T*> items_;
  size_t size_ = 0;
};

}  // namespace cacheline::c2c
