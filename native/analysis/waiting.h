// What each access to a cache line waits for: what the verdicts are made of (docs/outputs.md, "Verdicts").
// Pure: from the accesses of one line, and who made them, to shares.
//
// A read waits for what competitors write on the line, everything else for what they read and write. What
// lies in the access's own group of words (see word_groups.h) is a true cause; what lies in another one is a
// false cause, since moving the groups apart ends that waiting.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/false_share.h"
#include "analysis/report.h"
#include "analysis/use_pairs.h"
#include "analysis/word_groups.h"

namespace cacheline::analysis {

struct LineStatistics {
  std::span<const WordStatistics> uses;
  std::span<const PlaceSample> samples;  ///< in time order, of competing actors alone
  std::span<const Visitor> visitors;
  /// Whether two actors compete (see interleave.h), by actor; symmetric. Each visitor's actor has a row.
  const std::vector<std::vector<bool>>* compete = nullptr;
  std::span<const KnownUse> known = {};
  std::span<const StepUse> steps = {};
};

struct WaitVictim {
  std::vector<uint32_t> words;     ///< of one group: those that it waits at
  std::vector<uint32_t> visitors;  ///< who waits: one actor, or all that run one function
  double waiting = 0;              ///< contended samples
  double falseShare = 0;
  uint32_t use = 0;    ///< at which most of it waits falsely
  uint32_t cause = 0;  ///< and for which; the index of a use, too: of a use that reads, one that writes
};

struct Waiting {
  WaitSum line;
  std::vector<WaitSum> uses;                  ///< by use
  std::vector<std::optional<double>> shares;  ///< by use: the false causes' share of its causes
  /// By use. What an actor does with locked instructions to words that nobody else writes costs nearly as
  /// much alone: such samples count only as often as they alternate with those of others.
  std::vector<double> contended;
  std::vector<LineWord> words;
  std::vector<uint32_t> wordOf;     ///< by use
  std::vector<WaitCause> causes;    ///< the largest share first
  std::vector<WaitVictim> victims;  ///< most waiting first
  std::optional<UsePairs> pairs;    ///< where they are asked for
};

/// `chance`: whether the sampling error is asked for, which takes ten times as long. Without it there are no
/// causes, and victims only where the verdict depends on them.
Waiting waitingOf(const LineStatistics& line, bool chance = true, bool pairs = false);

/// Of a line with competitors and a writer, see kFalse.
Verdict verdictOf(const FalseShare& share, bool victims);

}  // namespace cacheline::analysis
