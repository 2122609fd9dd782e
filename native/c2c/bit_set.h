// A growing set of small numbers; the first 64 need no allocation.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace cacheline::c2c {

class BitSet {
 public:
  void add(uint32_t number) {
    if (number < 64)
      first_ |= uint64_t{1} << number;
    else
      addFar(number);
  }
  void add(const BitSet& other) {
    first_ |= other.first_;
    for (size_t i = 0; other.rest_ && i < other.rest_->size(); ++i)
      if ((*other.rest_)[i] != 0) addWord(i, (*other.rest_)[i]);
  }
  bool has(uint32_t number) const {
    if (number < 64) return ((first_ >> number) & 1) != 0;
    const size_t word = number / 64 - 1;
    return rest_ && word < rest_->size() && (((*rest_)[word] >> (number % 64)) & 1) != 0;
  }
  /// Ascending.
  std::vector<uint32_t> list() const {
    std::vector<uint32_t> numbers;
    const auto take = [&](uint64_t word, uint32_t base) {
      for (; word != 0; word &= word - 1)
        numbers.push_back(base + static_cast<uint32_t>(std::countr_zero(word)));
    };
    take(first_, 0);
    for (size_t i = 0; rest_ && i < rest_->size(); ++i)
      take((*rest_)[i], static_cast<uint32_t>(64 * (i + 1)));
    return numbers;
  }

 private:
  void addFar(uint32_t number) { addWord(number / 64 - 1, uint64_t{1} << (number % 64)); }
  void addWord(size_t word, uint64_t bits) {
    if (!rest_) rest_ = std::make_unique<std::vector<uint64_t>>();
    if (rest_->size() <= word) rest_->resize(word + 1);
    (*rest_)[word] |= bits;
  }

  uint64_t first_ = 0;
  std::unique_ptr<std::vector<uint64_t>> rest_;
};

}  // namespace cacheline::c2c
