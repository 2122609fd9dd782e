// Whose waiting is for whose data: what a line's table of causes says of members, objects and variables.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "analysis/subjects.h"

namespace cacheline::advice {

/// Contended samples at a subject's data, by what they wait for.
struct Waits {
  double all = 0;
  double truly = 0;                    ///< for what the access itself shares, or needs in the same step
  double inside = 0;                   ///< falsely, for another member of the same object
  double member = 0;                   ///< falsely, for another part of the same member, which has no members
  double between = 0;                  ///< falsely, for another object of the subject
  double elsewhere = 0;                ///< falsely, for an object of another subject, or what has no name
  std::map<uint32_t, double> others;   ///< of `elsewhere`: by subject
  std::map<uint32_t, double> members;  ///< by index of TypeHeat::own: at which
  double betweenSides = 0;             ///< truly, for what it needs in the same step and other threads write
  /// Falsely, where what is written lies beside what others only read: of the two words, one is of readers.
  double besideRead = 0;
  /// Truly, at words that threads do nothing with but add to them; these threads are `adders`.
  double atSums = 0;
  std::set<uint32_t> adders;  ///< numbers of the report's threads
  double low = 0, high = 0;   ///< bounds of the false part
  double victims = 0;         ///< of victims that moving data apart helps, not in the same step
  bool straddles = false;
  std::vector<uint32_t> lines;  ///< of the report, contended ones, ascending
};

/// By subject. A wait for another part of an object counts for the innermost object that holds both; any
/// other one for the outermost objects.
std::vector<Waits> waitsOf(const analysis::Report& report, const analysis::Subjects& subjects);

}  // namespace cacheline::advice
