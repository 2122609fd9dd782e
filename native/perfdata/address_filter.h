// A set of stretches of memory that is quick to ask and may say yes too often.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cacheline::perfdata {

/// Stretches of `granule` bytes, a power of two, each a bit of a table. Where the table is as large as
/// planned for, one address in kSpread passes though it is in none of them.
class AddressFilter {
 public:
  /// `expected`: stretches.
  AddressFilter(uint32_t granule, size_t expected)
      : shift_(std::countr_zero(granule)),
        words_(std::bit_ceil(std::clamp(expected * kSpread / 64, size_t{64}, kMostWords))),
        bits_(std::countr_zero(64 * words_.size())) {}

  void add(uint64_t address) {
    const uint64_t bit = bitOf(address);
    words_[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  /// Whether the address may lie in a stretch that was added.
  bool mayHave(uint64_t address) const {
    const uint64_t bit = bitOf(address);
    return ((words_[bit / 64] >> (bit % 64)) & 1) != 0;
  }

 private:
  static constexpr size_t kSpread = 64;
  static constexpr size_t kMostWords = size_t{1} << 18;  // 2 MiB: what a core's cache holds
  /// The upper bits of a product depend on all bits of its factors.
  uint64_t bitOf(uint64_t address) const {
    return ((address >> shift_) * 0x9e3779b97f4a7c15ull) >> (64 - bits_);
  }

  int shift_;
  std::vector<uint64_t> words_;
  int bits_;
};

}  // namespace cacheline::perfdata
