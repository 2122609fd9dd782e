// A vector that grows without moving what it holds, and so without ever holding it twice.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "sharing/chunk_pool.h"

namespace cacheline::sharing {

template <typename T>
class Chunks {
 public:
  explicit Chunks(ChunkPool& pool) : pool_(pool) {}
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
    if (size_ >> kBits == items_.size()) items_.push_back(static_cast<T*>(pool_.take(kChunk * sizeof(T))));
    T* item = new (&(*this)[size_]) T{std::forward<Arguments>(arguments)...};
    ++size_;
    return *item;
  }

 private:
  static constexpr size_t bitsFor(size_t itemSize) {
    size_t bits = 0;
    while ((itemSize << (bits + 1)) <= ChunkPool::kLargest) ++bits;
    return bits;
  }
  static constexpr size_t kBits = bitsFor(sizeof(T)), kChunk = size_t{1} << kBits, kMask = kChunk - 1;
  ChunkPool& pool_;
  std::vector<T*> items_;
  size_t size_ = 0;
};

}  // namespace cacheline::sharing
