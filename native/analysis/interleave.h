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

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace cacheline::analysis {

inline constexpr size_t kMaxRuns = 8;  ///< per line and thread; more are merged, smallest pause first
inline constexpr uint64_t kNoPause = std::numeric_limits<uint64_t>::max();

/// A stretch of one thread's samples at one line. Times in ns of the recording's clock.
struct Run {
  uint64_t start = 0, end = 0;
  uint64_t pause = kNoPause;  ///< the shortest pause merged into it, in which other threads were at the line
  uint64_t count = 0;         ///< samples
};

/// Runs of one (line, thread), in time order.
class RunList {
 public:
  /// Begins a run with one sample at `time`, not before the end of the last run. Where kMaxRuns are there
  /// already, the two neighbours with the shortest pause between them become one.
  void begin(uint64_t time);
  void extend(uint64_t time) {
    runs_[size_ - 1].end = time;
    ++runs_[size_ - 1].count;
  }
  std::span<const Run> runs() const { return {runs_.data(), size_}; }
  /// Starts from one run kept elsewhere.
  explicit RunList(const Run& first) : size_(1) { runs_[0] = first; }
  RunList() = default;

 private:
  void mergeShortestPause(uint64_t nextStart);
  std::array<Run, kMaxRuns> runs_{};
  size_t size_ = 0;
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
