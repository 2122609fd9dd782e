// The lines of a clock recording that a report may list, and what was decided about them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "analysis/watch_evidence.h"
#include "sharing/clock_collector.h"
#include "sharing/judge.h"
#include "sharing/options.h"

namespace cacheline::sharing {

struct ClockLine {
  const Line* line = nullptr;
  uint64_t address = 0;       ///< lowest virtual address at which it was seen
  std::vector<LineRow> rows;  ///< by offset, instruction and actor; behind them those that reach into it
  size_t begun = 0;           ///< rows whose accesses begin on the line
  LineJudgement judgement;
  std::vector<uint64_t> contended;  ///< samples, by use of the judgement
  bool isThinned = false;           ///< not all samples were logged
  uint64_t contendedSum = 0;        ///< samples
  uint64_t inTurns = 0;             ///< samples of threads that took turns on one core
  const analysis::WatchedLine* watched = nullptr;

  std::span<const LineRow> begunRows() const { return std::span(rows).first(begun); }
};

class ClockLines {
 public:
  /// Judges the lines that several actors accessed, all where `options` ask for them, and those that were
  /// watched.
  ClockLines(ClockCollector& collector, const Options& options);

  std::vector<ClockLine>& lines() { return lines_; }
  /// Lines with samples that are not among them: one actor only.
  uint64_t singleThreaded() const { return singleThreaded_; }
  const CodeFacts& factsOf(uint32_t location);
  /// As analysis::WordStatistics::function.
  uint64_t functionOf(uint32_t location);

 private:
  void add(const Line& line, const analysis::WatchedLine* watched, bool all);
  std::vector<LineRow> rowsOf(const Line& line);
  /// Asks for CodeFacts::later, which takes longer than the others and only counts where several actors meet.
  void findLater(const Line& line, std::span<LineRow> rows);
  void countContended(ClockLine& line) const;
  void countTurns(ClockLine& line) const;
  void findAdjacent();

  ClockCollector& collector_;
  const JudgePolicy policy_;
  const bool pairs_;
  std::vector<ClockLine> lines_;
  std::deque<Line> unsampled_;  ///< watched lines without samples
  uint64_t singleThreaded_ = 0;
  std::deque<std::optional<CodeFacts>> facts_;  ///< by location; none moves
  std::vector<bool> isLaterKnown_;              ///< by location
  HashMap<uint32_t, uint64_t> functions_;       ///< by location
};

/// The actor of a row: an ordinal.
uint32_t actorOf(const LineRow& row);

}  // namespace cacheline::sharing
