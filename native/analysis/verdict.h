// The verdict on one cache line, from who touched which bytes and who competes with whom.
#pragma once

#include <bitset>
#include <span>
#include <vector>

#include "analysis/interleave.h"
#include "analysis/report.h"

namespace cacheline::analysis {

inline constexpr uint32_t kMaxLineSize = 256;  ///< bytes; the largest line size in use (s390x)
using ByteMask = std::bitset<kMaxLineSize>;

/// One thread at one line: when (runs) and which bytes of the line.
struct LineThread {
  std::vector<Run> runs;
  ByteMask read, written;  ///< a read-modify-write is in both
  bool swaps = false;      ///< one of its writes was a locked swap or test-and-set (xchg, cmpxchg, bts)
};

struct Judgement {
  Verdict verdict = Verdict::privateLine;
  std::vector<bool> competes;  ///< by thread, in the order given
  /// A competing thread swapped or tested and set a word under the bus lock: that is how locks are taken. A
  /// counter that threads add to is none.
  bool lock = false;
  /// A thread writes one place while a competitor of it reads bytes that no competing thread writes.
  bool mixedUse = false;
};

/// What is known of a line beside its samples.
struct JudgeBy {
  /// When two threads compete, by their runs.
  bool (*competing)(std::span<const Run> a, std::span<const Run> b) = compete;
  bool written = false;  ///< somebody writes it, though no write may have been sampled
};

/// Only threads that compete (see interleave.h) count:
/// - private: none compete; read-shared: some do and none of them writes;
/// - otherwise by bytes: a byte is used when a competing thread touched it, and shared when two threads that
///   compete with each other both did. All used bytes shared: true sharing; none: false sharing; else mixed.
Judgement judge(std::span<const LineThread> threads, const JudgeBy& by = {});

/// Whether samples on a line with this verdict count as contended: it has a writer and competitors.
inline bool isContended(Verdict verdict) {
  return verdict == Verdict::falseSharing || verdict == Verdict::trueSharing || verdict == Verdict::mixed;
}

}  // namespace cacheline::analysis
