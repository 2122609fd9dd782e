// Threads that take turns on one CPU: their accesses to a line alternate, but the line stays in that CPU's
// cache, and nobody waits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/whereabouts.h"
#include "analysis/word_groups.h"

namespace cacheline::analysis {

/// Pairs of actors whose samples at a line alternate on one core, and hardly between cores.
class TurnPairs {
 public:
  /// `samples`: in time order, with CPUs. `actors`: those whose pairs are asked for.
  TurnPairs(std::span<const PlaceSample> samples, std::span<const Visitor> visitors,
            std::span<const size_t> actors, const Whereabouts& where);
  bool contains(size_t a, size_t b) const;

 private:
  static constexpr uint8_t kFewest = 3;  ///< alternations between cores that make actors compete: A B A B
  struct Seen {
    uint8_t between = 0;  ///< alternations between cores, at most kFewest
    bool onOne = false;   ///< one of them was not
  };
  Seen& at(uint32_t a, uint32_t b) { return seen_[a < b ? b * actors_ + a : a * actors_ + b]; }

  size_t actors_;
  std::vector<uint32_t> number_;  ///< by actor
  std::vector<Seen> seen_;        ///< by two numbers, the larger one first
};

/// Of each sample whether it waited for nobody: since its core's sample before at the line, those that its
/// actor competes with ran on this core alone. `pairs`: as Judgement::pairs. `threads`: of `where`, by
/// visitor. Those of actors that do not compete count as such.
std::vector<bool> samplesInTurns(std::span<const PlaceSample> samples, std::span<const Visitor> visitors,
                                 const std::vector<std::vector<bool>>& pairs, const Whereabouts& where,
                                 std::span<const uint32_t> threads);

}  // namespace cacheline::analysis
