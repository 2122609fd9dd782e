// Which lock protects which data, as far as the code of the samples shows.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report.h"
#include "analysis/subjects.h"

namespace cacheline::advice {

/// Index of a line of the report, and of one of its words.
using WordOfLine = std::pair<uint32_t, uint32_t>;

struct LockedWords {
  std::set<WordOfLine> locks;  ///< see analysis::lockUses()
  /// By word that is no lock: those that are held wherever it is accessed. Of nested locks that are always
  /// held together, both. Words that are also accessed without a lock are not among them.
  std::map<WordOfLine, std::vector<WordOfLine>> protectedBy;
};

/// A function holds a lock on the ways from where it takes it to where it gives it back. Where the two are in
/// different functions, nothing is known of what it protects.
LockedWords locksOf(const analysis::Report& report);

/// A lock, and the data of the same object that is only accessed while it is held.
struct Lock {
  std::string name;
  std::vector<std::string> data;
};

/// Members of a subject's objects on these lines of the report.
std::vector<Lock> locksIn(const analysis::Report& report, const analysis::Subjects& subjects,
                          const LockedWords& locked, uint32_t subject, std::span<const uint32_t> lines);

/// There is a lock among the members, and all others on these lines are data that a lock of the same object
/// protects.
bool isAllLocked(const analysis::Report& report, const analysis::Subjects& subjects,
                 const LockedWords& locked, uint32_t subject, std::span<const uint32_t> lines);

}  // namespace cacheline::advice
