// When the samples are looked at for words to watch, which words are watched next, for how long, and how long
// the program is left alone afterwards.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/watch_request.h"

namespace cacheline::record {

/// Takes turns over the words, a few of each process at a time.
class WatchRotation {
 public:
  /// Goes on where it was if the words are the same. What is named twice counts once. True
  /// where they are others.
  bool set(std::vector<WatchWord> words);
  bool empty() const { return words_.empty(); }
  const std::vector<WatchWord>& words() const { return words_; }
  /// The words of the next window: of each process at most `slots`, words of one line (of 64 bytes) together
  /// where they fit.
  std::vector<WatchWord> next(size_t slots);

 private:
  std::vector<WatchWord> words_;
  size_t turn_ = 0;
};

/// Keeps what watching costs within a share of the program's wall time. A hit stops one thread for
/// `hitCost`; a window costs what its hits cost, but never more than its length, plus what opening and
/// closing took.
class WatchBudget {
 public:
  using Duration = std::chrono::nanoseconds;
  /// `budget`: 0.1 lets the program take 1.1 times as long; from 1 on there are no pauses.
  WatchBudget(double budget, Duration hitCost);
  bool unlimited() const { return budget_ >= 1; }
  /// Planned length of the next window. It grows while windows are watched to their end at little cost.
  Duration length() const { return length_; }
  /// A window ends after so many hits.
  uint64_t mostHits() const;
  /// A window is over: how long to wait from its start to the next one's. `cut`: hits ended it.
  Duration interval(Duration length, uint64_t hits, Duration overhead, bool cut);
  /// The kernel held the events back: pauses become twice as long.
  void throttled() { caution_ *= 2; }

 private:
  double budget_;
  Duration hitCost_, length_;
  double caution_ = 1;
};

/// When the samples so far are analyzed for words to watch: soon, then whenever there are about twice as
/// many, or every half minute; but looks take at most a twentieth of a CPU. A look that opened binaries says
/// nothing of what the next one costs, which has all that was read of them.
class LookSchedule {
 public:
  using Clock = std::chrono::steady_clock;
  explicit LookSchedule(Clock::time_point begun);
  bool isDue(Clock::time_point now) const { return !looking_ && now >= next_; }
  void begin(Clock::time_point now);
  /// `used`: CPU time. `opened`: binaries.
  void end(Clock::time_point now, Clock::duration used, uint64_t opened);

 private:
  const Clock::time_point begun_;
  Clock::time_point asked_, next_;
  bool looking_ = false;
};

}  // namespace cacheline::record
