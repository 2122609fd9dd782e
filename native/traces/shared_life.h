// What objects with the same path have in common, word by word; and how those of other words are joined with
// it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "traces/paths.h"

namespace cacheline::traces {

/// An access of a path: the n-th at a word, accesses of the same kind by the same function one after the
/// other counting once.
struct WordAccess {
  std::string function;
  StepKind kind = StepKind::unknown;
  uint32_t place = 0;
  bool repeated = false;
  std::set<TracedMember> members;
  uint64_t count = 0, sumNs = 0;  ///< of objects
  int64_t sumToFree = 0;          ///< ns
  auto what() const { return std::tie(function, kind); }
  bool isStepOf(const WordAccess& other) const { return what() == other.what() && place == other.place; }
  uint64_t meanNs() const { return count == 0 ? 0 : sumNs / count; }
};

/// Word and n.
using WordAccessId = std::pair<uint32_t, uint32_t>;

/// Of two accesses of one object, the lower id first.
struct AccessOrder {
  uint64_t together = 0, before = 0;  ///< objects: with both; in which the first came first
  int64_t sumGap = 0;                 ///< ns from the first to the second
};

class SharedLife {
 public:
  explicit SharedLife(const TracedLife& life);

  /// Equal for objects with the same path of which the same words were watched.
  using Key = std::tuple<std::vector<uint32_t>, bool, bool, std::string, std::string, uint32_t,
                         std::vector<std::tuple<WordAccessId, std::string, StepKind, uint32_t>>>;
  Key key() const;
  uint64_t count() const { return count_; }
  /// Objects with the same key.
  void add(const SharedLife& other);
  /// Objects of other words. False: theirs is another path, and nothing is changed.
  bool join(const SharedLife& other);
  Path path() const;

 private:
  using Places = std::map<uint32_t, uint32_t>;
  std::optional<Places> placesOf(const SharedLife& other) const;
  std::vector<WordAccessId> inOrder() const;
  /// Objects in which `a` came before `b`, less those in which it came after.
  int64_t lead(WordAccessId a, WordAccessId b) const;
  std::optional<int64_t> meanGap(WordAccessId a, WordAccessId b) const;

  /// It has no end that was seen, and maybe no beginning: which accesses there are counts, not how often and
  /// in which order they begin.
  bool isSteady() const { return variable_ || truncated_; }

  bool variable_ = false, truncated_ = false;
  std::string allocatedIn_;
  std::optional<TracedLife::Free> freed_;  ///< its cpu is a place, its ns a sum
  uint64_t count_ = 1, moreSteps_ = 0;
  std::vector<uint32_t> words_;  ///< that were watched of any of them
  std::map<WordAccessId, WordAccess> accesses_;
  std::map<std::pair<WordAccessId, WordAccessId>, AccessOrder> orders_;
};

}  // namespace cacheline::traces
