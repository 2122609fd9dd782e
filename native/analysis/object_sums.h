// Lines added up per data object, so that contention spread over many lines of one array is seen as one.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report.h"
#include "base/hash.h"

namespace cacheline::analysis {

/// The verdict over accesses on several lines: of those that somebody waits for by their false share, and by
/// whether one of their lines has victims; where there are none, read-shared if one of the lines is, else
/// private.
class RolledVerdict {
 public:
  /// An access with `contended` samples on line number `number`; numbers do not go back.
  void add(const Line& line, uint64_t number, const Access& access);
  /// What another one was rolled up from, too.
  void add(const RolledVerdict& other);
  /// Waiting on lines of which no more is known.
  void addRest(const WaitSum& waits);
  uint32_t lines() const { return static_cast<uint32_t>(lines_.size()); }
  Verdict verdict() const;
  /// Empty: nobody waits.
  std::optional<FalseShare> falseShare() const;
  std::vector<std::string> takeFlags() { return std::move(flags_); }

 private:
  std::vector<uint64_t> lines_;  ///< their numbers, ascending
  bool contendedOnLine_ = false, anyContended_ = false, anyReadShared_ = false;
  bool victims_ = false;
  Verdict verdict_ =
      Verdict::privateLine;  ///< that contended lines agree on: where no sample says for what they wait
  WaitsOfLines waits_;
  std::vector<std::string> flags_;
};

/// An object is (space, binary, name), of memory without a name (space, type, base). A line that holds
/// several objects gives each only the samples of that object's own accesses.
class ObjectSums {
 public:
  ObjectSums(uint64_t contended, uint64_t samples) : contended_(contended), samples_(samples) {}

  /// The accesses that follow are of this line, whose own fields (not its accesses) are complete.
  void beginLine(const Line& line);
  /// `base`: where the typed object, or the array it is in, begins; 0: it is told apart by its name alone.
  void add(const Access& access, const std::string& binary, uint64_t base = 0);
  /// By contended samples, descending; then records, descending; then name, binary, space and base.
  std::vector<ObjectSum> take();

 private:
  struct Sum {
    ObjectSum object;
    RolledVerdict verdict;
  };
  uint64_t contended_, samples_;
  uint64_t lineNumber_ = 0;
  const Line* line_ = nullptr;
  HashMap<std::string, size_t> index_;
  std::deque<Sum> sums_;  ///< may be many: none is moved
};

}  // namespace cacheline::analysis
