// What watchpoints say to a line's verdict: who was seen, in which order. Absence is never a refutation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "analysis/verdict.h"

namespace cacheline::analysis {

/// One trapped access, placed in its line.
struct SeenAccess {
  enum class Kind : uint8_t { read, write, readWrite, unknown };
  uint64_t window = 0;  ///< start of the window it was seen in: what was between windows nobody knows
  uint32_t pid = 0, tid = 0;
  uint32_t begin = 0, end = 0;  ///< bytes of the line; where the access is not known exactly, its word's
  uint32_t word = 0;            ///< index of the watched word
  Kind kind = Kind::unknown;
  bool writes() const { return kind == Kind::write || kind == Kind::readWrite; }
};

/// Turns: the next access is another thread's, and one of the two writes.
struct Turns {
  uint64_t alternations = 0;  ///< any two threads one after the other
  uint64_t sameBytes = 0, otherBytes = 0;
  /// Tids that took part, each in one: that were seen to write, only to read, and to do what the code does
  /// not say.
  std::vector<uint32_t> writers, readers, others;
  std::vector<uint32_t> words;  ///< indices that took part
  /// Of the threads that took part: some bytes are used by two of them, some by one alone.
  bool common = false, own = false;
  uint64_t count() const { return sameBytes + otherBytes; }
  bool tookPart(uint32_t tid) const;
};

/// `seen`: of one line, by time.
Turns turnsOf(std::span<const SeenAccess> seen);

/// The verdict by what was seen alone.
Verdict verdictOf(std::span<const SeenAccess> seen, const Turns& turns);

/// `words`: those that were watched, complete; `watchedMs`: in which at least one was.
Confirmation confirm(Verdict verdict, std::span<const SeenAccess> seen, const Turns& turns,
                     std::vector<ConfirmedWord> words, double watchedMs);

}  // namespace cacheline::analysis
