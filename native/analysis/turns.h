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

/// Where the threads of a sample's competitors were since its core's sample before at the line; of a core's
/// first sample, until its next one.
enum class Meanwhile : uint8_t {
  elsewhere,   ///< one ran on another core, or may have: what the sample accesses can have been there
  onThisCore,  ///< none did; one ran on this core, or waited for a CPU: they took turns
  asleep       ///< none was at work
};

/// By sample. `pairs`: as Judgement::pairs; the actor of a sample has no competitors where it competes with
/// nobody. `threads`: of `where`, by visitor.
std::vector<Meanwhile> competitorsOf(std::span<const PlaceSample> samples, std::span<const Visitor> visitors,
                                     const std::vector<std::vector<bool>>& pairs, const Whereabouts& where,
                                     std::span<const uint32_t> threads);

}  // namespace cacheline::analysis
