// Who competes for a cache line, and what follows from the bytes that they use.
#pragma once

#include <bitset>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/interleave.h"
#include "analysis/report.h"

namespace cacheline::analysis {

class TurnPairs;    // turns.h
class Whereabouts;  // whereabouts.h

inline constexpr uint32_t kMaxLineSize = 256;  ///< bytes; the largest line size in use (s390x)
using ByteMask = std::bitset<kMaxLineSize>;
/// Bytes [from, from + width) of a line, cut at its end. An access of unknown width, 0, touches one at least.
ByteMask bytesFrom(uint64_t from, uint64_t width, uint32_t lineSize);

/// One actor (a thread, or a goroutine) at one line: when (runs) and which bytes of the line.
struct LineActor {
  std::vector<Run> runs;
  ByteMask read, written;       ///< a read-modify-write is in both
  uint32_t thread = kNoThread;  ///< the only one that it was seen on; kNoThread: on several
  static constexpr uint32_t kNoThread = ~uint32_t{0};
};

struct Judgement {
  /// private, read-shared, or contended: what somebody waits for decides the rest (see waiting.h).
  bool competing = false, written = false;
  std::vector<bool> competes;  ///< by actor, in the order given
  /// Whether two of them compete; empty where none do, and so is the row of an actor that does not.
  std::vector<std::vector<bool>> pairs;
  size_t leftOut = 0;  ///< actors that were not compared: there are more than kMostActors
  /// By actor: those that would compete with others if they had not taken turns with them on one core.
  /// Empty: there are none.
  std::vector<bool> turns;
  /// An actor writes one place while a competitor of it reads bytes that no competing actor writes.
  bool mixedUse = false;
  bool contended() const { return competing && written; }
};

/// What is known of a line beside its samples.
struct JudgeBy {
  /// When two actors compete, by their runs.
  bool (*competing)(std::span<const Run> a, std::span<const Run> b) = compete;
  bool written = false;  ///< somebody writes it, though no write may have been sampled
  bool pairs = false;    ///< Waiting::pairs are asked for
  /// Where threads ran: who took turns on one core does not compete. Null: not known.
  const Whereabouts* where = nullptr;
  std::span<const uint32_t> threads = {};  ///< of `where`, by visitor
};

/// Only actors that compete (see interleave.h) count. Two of them that are always on one and the same thread
/// do not. Of more than kMostActors, those with most samples are compared: each is with each.
/// `turns`: pairs that do not compete, whatever their runs; null: none are known.
Judgement judge(std::span<const LineActor> actors, const JudgeBy& by = {}, const TurnPairs* turns = nullptr);
inline constexpr size_t kMostActors = 512;
/// Those that are compared, ascending.
std::vector<size_t> comparedOf(std::span<const LineActor> actors);
/// A sentence about so many lines; empty where there are none.
std::string leftOutOfPairs(uint64_t lines);

/// Whether samples on a line with this verdict count as contended: it has a writer and competitors.
inline bool isContended(Verdict verdict) {
  return verdict == Verdict::falseSharing || verdict == Verdict::trueSharing || verdict == Verdict::mixed;
}

}  // namespace cacheline::analysis
