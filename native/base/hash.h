// Our hash map: tsl::robin_map with a mixing hash, since its buckets are powers of two and our
// keys are addresses (all of them multiples of something).
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace cacheline {

/// Folds a 128-bit product: every input bit reaches every output bit.
inline uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xd6e8feb86659fd93ull);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t mix(uint64_t hash, std::string_view text) {
  size_t i = 0;
  for (; text.size() - i >= 8; i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    hash = mix(hash, word);
  }
  uint64_t word = text.size();
  for (; i < text.size(); i++) word = word << 8 | static_cast<unsigned char>(text[i]);
  return mix(hash, word);
}

struct Hash {
  size_t operator()(uint32_t value) const { return mix(value, 0); }
  size_t operator()(uint64_t value) const { return mix(value, 0); }
  size_t operator()(const std::string& value) const { return std::hash<std::string_view>{}(value); }
  template <typename T>
  size_t operator()(const T& value) const {
    return value.hash();
  }
};

template <typename Key, typename Value>
using HashMap = tsl::robin_map<Key, Value, Hash>;

}  // namespace cacheline
