// A growing set of numbers in eight bytes; those below 63 need no allocation, others take 16 bytes for each
// 64 that have members: a recording may hold any CPU number.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace cacheline::sharing {

class BitSet {
 public:
  BitSet() = default;
  BitSet(BitSet&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
  BitSet& operator=(BitSet&& other) noexcept {
    std::swap(word_, other.word_);
    return *this;
  }
  ~BitSet() {
    if (isFar()) delete far();
  }

  [[gnu::always_inline]] void add(uint32_t number) {
    if (number < kNear && !isFar()) [[likely]]
      word_ |= uint64_t{1} << number;
    else
      addFar(number);
  }
  bool has(uint32_t number) const {
    if (!isFar()) return number < kNear && ((word_ >> number) & 1) != 0;
    const auto word = find(number / 64);
    return word != far()->end() && word->index == number / 64 && ((word->bits >> (number % 64)) & 1) != 0;
  }
  bool empty() const { return word_ == 0; }
  /// Ascending.
  std::vector<uint32_t> list() const {
    std::vector<uint32_t> numbers;
    each([&](uint32_t number) { numbers.push_back(number); });
    return numbers;
  }
  template <typename Visit>
  void each(Visit&& visit) const {
    const auto take = [&](uint64_t word, uint32_t base) {
      for (; word != 0; word &= word - 1) visit(base + static_cast<uint32_t>(std::countr_zero(word)));
    };
    if (!isFar()) {
      take(word_, 0);
    } else {
      for (const Word& word : *far()) take(word.bits, 64 * word.index);
    }
  }

 private:
  struct Word {
    uint32_t index;  ///< of its first number, in units of 64
    uint64_t bits;
  };
  using Words = std::vector<Word>;  ///< ascending
  static constexpr uint32_t kNear = 63;
  bool isFar() const { return word_ >> kNear != 0; }
  /// Pointers are even: one bit of them says nothing.
  Words* far() const { return reinterpret_cast<Words*>(word_ << 1); }
  [[gnu::noinline]] void addFar(uint32_t number) {
    if (!isFar()) word_ = uint64_t{1} << kNear | reinterpret_cast<uint64_t>(new Words{{0, word_}}) >> 1;
    auto word = find(number / 64);
    if (word == far()->end() || word->index != number / 64) word = far()->insert(word, {number / 64, 0});
    word->bits |= uint64_t{1} << (number % 64);
  }
  /// The word with that index, or where it belongs.
  Words::iterator find(uint32_t index) const {
    return std::lower_bound(far()->begin(), far()->end(), index,
                            [](const Word& word, uint32_t wanted) { return word.index < wanted; });
  }

  uint64_t word_ = 0;  ///< bits 0 to 62: the members; or, with bit 63 set, half of a pointer to more words
};

}  // namespace cacheline::sharing
