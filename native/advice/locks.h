// Which lock protects which data, as far as the code of the samples shows.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analysis/report.h"

namespace cacheline::advice {

/// Index of a line of the report, and of one of its words.
using WordOfLine = std::pair<uint32_t, uint32_t>;

struct LockedWords {
  std::set<WordOfLine> locks;  ///< words that are swapped or tested and set under the bus lock
  /// By word that is no lock: those that are held wherever it is accessed. Of nested locks that are always
  /// held together, both. Words that are also accessed without a lock are not among them.
  std::map<WordOfLine, std::vector<WordOfLine>> protectedBy;
};

/// A function holds a lock from where it takes it (swaps the word) to where it stores to it, in the order of
/// its addresses; to its end where no such store was sampled. Where a lock is taken in a function of its own,
/// nothing is known of what it protects.
LockedWords locksOf(const analysis::Report& report);

}  // namespace cacheline::advice
