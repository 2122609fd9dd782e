// Numbers that look random and are the same on every machine for the same seed.
#pragma once

#include <cstdint>

namespace cacheline::synth {

/// splitmix64's finalizer: any bits in, well-mixed bits out.
constexpr uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
constexpr uint64_t mix(uint64_t a, uint64_t b) {
  return mix(mix(a) ^ b);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(mix(seed)) {}
  uint64_t next() { return mix(state_ += 0xd1342543de82ef95); }
  /// In [0, bound).
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }
  bool oneIn(uint64_t n) { return below(n) == 0; }
  /// In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace cacheline::synth
