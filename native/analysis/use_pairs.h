// Which use of a line waits for which, told from who made the line's samples: any two uses may be a pair, so
// that a list of pairs would grow with the square of the uses.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cacheline::analysis {

/// A use that another one waits for.
struct UseCause {
  uint32_t cause = 0;  ///< index of the use
  double share = 0;    ///< of the other one's waiting whose causes are known
  double falsely = 0;  ///< how much of it is false, 0 to 1
};

/// Of the uses and visitors of a LineStatistics, by its numbers.
struct UsePairs {
  struct Use {
    uint32_t word = 0;                     ///< index
    bool writes = false, changes = false;  ///< `changes`: it waits for reads, too
    /// Its own index and, of a report's line, that of its access; empty: that is not listed.
    std::optional<uint32_t> access;
  };
  /// What one visitor has at one use.
  struct Place {
    uint32_t use = 0, visitor = 0;
    double samples = 0;
    double waiting = 0;  ///< contended samples
  };

  /// What a use waits for, by cause: a use waits for what the competitors of each of its visitors do, in
  /// proportion to their samples. Takes time for each place of the use with each place of the line.
  std::vector<UseCause> of(uint32_t use) const;

  std::vector<Use> uses;
  std::vector<Place> places;                 ///< that have samples, by use and visitor
  std::vector<std::vector<bool>> compete;    ///< by visitor, and another one
  std::vector<std::vector<double>> falsely;  ///< of waiting at a word, by the word that is its cause
};

}  // namespace cacheline::analysis
