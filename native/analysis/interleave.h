// Which threads compete for a line: whose accesses to it interleave in time.
//
// Samples arrive in time order. For every (line, thread) we keep runs: stretches in which no other thread was
// seen at the line. Two threads compete when their runs alternate closely enough (time goes right):
//
//   A ████ █ ██ █ ███      alternating: at least three switches (A B A B), and one of them happened while the
//   B   █ █ █  █ █ █       other thread was in the middle of its work
//
//   A ██ █ ██ ██ █ ██      an occasional visitor: two switches (A B A), A busy before, around and after
//   B        █
//
//   main    ██          █      sets up and sums up: two switches, but A's pause is far longer than the time
//   worker     ████████        between its samples: not competing
//
//   A ██████        ██████        phases, however often they repeat: neither thread was seen at work while
//   the B        ██████        █████  other was: not competing
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace cacheline::analysis {

inline constexpr size_t kMaxRuns = 8;  ///< per line and thread; more are merged, smallest pause first
inline constexpr uint64_t kNoPause = std::numeric_limits<uint64_t>::max();

/// A stretch of one thread's samples at one line. Times in ns of the recording's clock.
struct Run {
  uint64_t start = 0, end = 0;
  uint64_t pause = kNoPause;  ///< the shortest pause merged into it, in which other threads were at the line
  uint64_t count = 0;         ///< samples
};

/// Runs of one (line, thread), in time order. Where a run would be one too many, pauses as short as the
/// shortest one are given up, then and from then on: a thread that alternates with others at one pace costs a
/// comparison a run.
class RunList {
 public:
  /// Begins a run with one sample at `time`, or goes on with the last one where the pause between is too
  /// short to keep.
  void begin(uint64_t time) {
    if (last_.count == 0) {
      last_ = {time, time, kNoPause, 1};
      return;
    }
    if (time < last_.end) time = last_.end;
    const uint64_t pause = time - last_.end;
    if (pause > givenUp_ || givenUp_ == kNoPause) return beginAfter(pause, time);
    last_.pause = std::min(last_.pause, pause);
    extend(time);
  }
  void extend(uint64_t time) {
    last_.end = time;
    ++last_.count;
  }
  std::vector<Run> runs() const;
  /// Of the first sample and of the last one.
  uint64_t start() const { return earlier_.empty() ? last_.start : earlier_.front().start; }
  uint64_t end() const { return last_.end; }

 private:
  void beginAfter(uint64_t pause, uint64_t time);
  /// The shortest pause between two runs that are kept (rank 0), or the next longer one (1), ...
  uint64_t shortPause(size_t rank) const;
  void giveUp(uint64_t pause);
  void push(const Run& run);

  Run last_;
  uint64_t givenUp_ = kNoPause;  ///< pauses up to this long are not kept; kNoPause: all are
  std::vector<Run> earlier_;
};

/// Whether two threads compete, from their runs at one line. Symmetric. The rule is the drawing above:
/// - no overlap of the two time spans: no;
/// - three switches or more between them (overlapping runs, which only merging makes, count as such), and one
///   of the two was seen inside a pause of the other of at most kBusyPauses mean sample distances of that
///   other: yes;
/// - two switches (A B A): only where A has at least kVisitorSamples samples and B fell into a pause of at
///   most kVisitorPauses mean sample distances.
bool compete(std::span<const Run> a, std::span<const Run> b);

inline constexpr double kBusyPauses = 8;
inline constexpr double kVisitorPauses = 2;
inline constexpr uint64_t kVisitorSamples = 4;

}  // namespace cacheline::analysis
