// A vector that grows without moving what it holds, and so without ever holding it twice.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace cacheline::c2c {

template <typename T>
class Chunks {
 public:
  size_t size() const { return size_; }
  T& operator[](size_t index) { return chunks_[index >> kBits][index & kMask]; }
  const T& operator[](size_t index) const { return chunks_[index >> kBits][index & kMask]; }
  template <typename... Arguments>
  T& add(Arguments&&... arguments) {
    if ((size_ & kMask) == 0 && size_ >> kBits == chunks_.size())
      chunks_.push_back(std::make_unique<T[]>(size_t{1} << kBits));
    T& item = (*this)[size_++];
    item = T{std::forward<Arguments>(arguments)...};
    return item;
  }

 private:
  static constexpr size_t kBits = 9, kMask = (size_t{1} << kBits) - 1;
  std::vector<std::unique_ptr<T[]>> chunks_;
  size_t size_ = 0;
};

}  // namespace cacheline::c2c
