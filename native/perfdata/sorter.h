// Puts the records of a perf.data file into time order, a round at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cacheline::perfdata {

/// Time-orders references to records.
///
/// The recorder empties the ring buffers of all CPUs one after the other, again and again; after each pass, a
/// round, it writes FINISHED_ROUND. Every buffer is in time order, the file is not:
///
///       time ->          1   2   3   4   5   6   7   8   9
///       CPU 0 writes     a       c       | e       g     |          | when its buffer is emptied
///       CPU 1 writes         b       d     | f       h     |
///
///       file:   a c  b d f  R1   e g  h  R2   ...           (R: FINISHED_ROUND)
///
/// While round 1 went from CPU 0 to CPU 1, `e` and `f` were recorded: `f` made it into round 1, the older `e`
/// came too late. So the end of a round says nothing about that round, but at R2 every buffer has been
/// emptied once more since `f`, the newest record of round 1, was recorded. Hence the invariant:
///
///       after R(n), no record follows that is older than the newest record of round n-1,
///
/// and at R(n) all records up to that time can be delivered. What waits is never more than two rounds, 16
/// bytes a record; the records themselves stay where they are. A file without rounds is one round.
///
/// A round is a few ascending runs, one a CPU: they are merged, not sorted, in O(n log runs). Records of
/// equal time keep the order in which they were added.
class Sorter {
 public:
  /// `where` is handed back at delivery.
  void add(uint64_t time, uint64_t where) {
    if (waiting_.empty() || time < waiting_.back().time) runs_.push_back(waiting_.size());
    waiting_.push_back({time, where});
    if (time > newest_) newest_ = time;
    if (time < delivered_) ++late_;
  }

  /// FINISHED_ROUND: calls deliver(where) for the records that the invariant lets go.
  template <typename Deliver>
  void finishRound(Deliver&& deliver) {
    deliverUpTo(newestOfPreviousRound_, deliver);
    newestOfPreviousRound_ = newest_;
  }

  /// The end of the file: calls deliver(where) for everything that waits.
  template <typename Deliver>
  void finish(Deliver&& deliver) {
    deliverUpTo(~uint64_t{0}, deliver);
  }

  /// Records added after newer ones had been delivered: the file broke the invariant.
  uint64_t late() const { return late_; }

 private:
  struct Reference {
    uint64_t time, where;
  };

  template <typename Deliver>
  void deliverUpTo(uint64_t limit, Deliver& deliver) {
    mergeRuns();
    size_t count = 0;
    for (; count < waiting_.size() && waiting_[count].time <= limit; ++count) deliver(waiting_[count].where);
    if (count == 0) return;
    if (waiting_[count - 1].time > delivered_) delivered_ = waiting_[count - 1].time;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    if (waiting_.empty()) runs_.clear();
  }

  /// Makes waiting_ one ascending run.
  void mergeRuns();

  std::vector<Reference> waiting_, merged_;
  std::vector<size_t> runs_;  ///< where each ascending run of waiting_ starts
  uint64_t newest_ = 0, newestOfPreviousRound_ = 0, delivered_ = 0, late_ = 0;
};

}  // namespace cacheline::perfdata
