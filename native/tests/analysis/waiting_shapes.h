// Lines of a known kind, sampled at random: who uses which words, how often.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analysis/waiting.h"

namespace cacheline::analysis::test {

/// A line and its samples. Everybody competes, and each actor is a thread.
class ShapedLine {
 public:
  enum Kind : uint8_t { reads, writes, changes, locks };

  /// `actor` uses the word at `offset` by code that is `function`'s, `weight` times as often as others.
  ShapedLine& use(uint32_t actor, uint32_t offset, Kind kind, double weight = 1, uint64_t function = 0);
  /// `count` samples. A sample is followed by another one of the same actor with the chance `stays`.
  ShapedLine& sample(size_t count, uint32_t seed, double stays = 0);
  /// About that part of the samples.
  ShapedLine thinned(double part, uint32_t seed) const;
  Waiting waiting(bool pairs = false) const;  ///< `pairs`: see Waiting::pairs
  size_t samples() const { return samples_.size(); }

 private:
  struct Role {
    uint32_t actor = 0, use = 0;
    double weight = 0;
  };
  std::vector<WordStatistics> uses_;
  std::vector<Role> roles_;
  std::vector<PlaceSample> samples_;
  uint32_t actors_ = 0;
};

struct Shape {
  std::string name;
  std::function<ShapedLine()> make;  ///< without samples
};
/// Of all kinds that the verdicts tell apart, with few and many threads and words.
std::vector<Shape> shapes();

}  // namespace cacheline::analysis::test
