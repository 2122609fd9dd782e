// Puts the records of a perf.data file into time order, a round at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cacheline::perfdata {

/// Time-orders records that lie in memory.
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
/// and at R(n) all records up to that time can be delivered. What waits is never more than two rounds. A file
/// without rounds is one round.
///
/// A round is a few ascending runs, one a CPU. Nothing is kept of a record, only where a run starts and ends:
/// delivering walks along all runs at once, in O(n log runs): their oldest records play a tournament, and
/// whoever comes after the winner plays again against those who lost to it. Records of equal time keep the
/// order in which they were added.
///
/// The callbacks, and what they are called with:
///   deliver(at, end)      a record whose turn it is, in a run that goes on to `end`
///   advance(at, end)      -> Position of the first record to be ordered behind the one at `at`; `end` where
///                         there is none
class Sorter {
 public:
  struct Position {
    uint64_t time;
    const uint8_t* at;
  };

  /// From here on records come from another place in memory. `newest`: of the records that this place had
  /// before, 0 for none.
  void beginStretch(uint64_t newest = 0) {
    closeRun();
    last_ = stretchNewest_ = newest;
    stretchDescends_ = false;
  }

  /// A record from `at` to `end`. Between it and the one added before there may only be records that
  /// advance() passes over.
  void add(uint64_t time, const uint8_t* at, const uint8_t* end) {
    if (time < last_ || !open_) startRun(time, at);
    last_ = time;
    run_.end = end;
    if (time < delivered_) ++late_;
  }

  /// A record that advance() passes over.
  void skip(uint64_t time) {
    newest_ = std::max(newest_, time);
    if (time < delivered_) ++late_;
  }

  /// The bytes behind the record added last are no records.
  void breakRun() { closeRun(); }

  /// The newest time added since beginStretch(), or what that was told.
  uint64_t stretchNewest() const { return std::max(last_, stretchNewest_); }
  /// Whether the stretch has a record older than one before it.
  bool stretchDescends() const { return stretchDescends_; }

  /// FINISHED_ROUND: the time up to which the invariant lets records go.
  uint64_t endRound() {
    closeRun();
    return std::exchange(newestOfPreviousRound_, newest_);
  }

  /// Delivers everything up to `limit`, inclusive: the caller knows that nothing older follows.
  template <typename Deliver, typename Advance>
  void deliverUpTo(uint64_t limit, Deliver&& deliver, Advance&& advance);

  /// Records added after newer ones had been delivered: the file broke the invariant.
  uint64_t late() const { return late_; }
  /// Runs that wait, for tests.
  size_t waitingRuns() const { return runs_.size() + (open_ ? 1 : 0); }

 private:
  struct Run {
    uint64_t time = 0;  ///< of the record at `at`
    const uint8_t *at = nullptr, *end = nullptr;
  };
  /// A time above the number of a run: compared in one.
  __extension__ using Key = unsigned __int128;
  static constexpr Key kNobody = ~Key{0};
  static Key keyOf(uint64_t time, size_t run) { return Key{time} << 64 | run; }

  void startRun(uint64_t time, const uint8_t* at);
  void closeRun();
  /// Lets the first records of all runs play that are not newer than `limit`. The winner's key.
  Key startTournament(uint64_t limit);
  /// The winner, now that its run has `key`.
  Key playAgain(Key key, size_t run) {
    for (size_t match = (losers_.size() + run) / 2; match != 0; match /= 2) {
      // Who wins cannot be foretold: no branch.
      const Key other = losers_[match];
      const bool loses = other < key;
      losers_[match] = loses ? key : other;
      key = loses ? other : key;
    }
    return key;
  }

  std::vector<Run> runs_;    ///< in the order of their first records in the file
  std::vector<Key> losers_;  ///< of each match: 1 is the final, and who won match n goes on to n / 2
  Run run_;                  ///< the one that is being added to
  bool open_ = false, stretchDescends_ = false;
  uint64_t last_ = 0, stretchNewest_ = 0, newest_ = 0, newestOfPreviousRound_ = 0, delivered_ = 0, late_ = 0;
};

template <typename Deliver, typename Advance>
void Sorter::deliverUpTo(uint64_t limit, Deliver&& deliver, Advance&& advance) {
  closeRun();
  uint64_t newest = delivered_;
  for (Key winner = startTournament(limit); winner != kNobody;) {
    const auto index = static_cast<size_t>(winner);
    Run& run = runs_[index];
    deliver(run.at, run.end);
    newest = run.time;
    const Position next = advance(run.at, run.end);
    run.at = next.at;
    run.time = next.time;
    const bool goesOn = next.at != run.end && next.time <= limit;
    winner = playAgain(goesOn ? keyOf(next.time, index) : kNobody, index);
  }
  if (limit != ~uint64_t{0}) newest = std::max(newest, limit);
  delivered_ = std::max(delivered_, newest);
  std::erase_if(runs_, [](const Run& run) { return run.at == run.end; });
}

}  // namespace cacheline::perfdata
