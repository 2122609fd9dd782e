// What lines and rows that are listed have in common with those that only count in sums.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analysis/report.h"
#include "analysis/typed_rows.h"
#include "analysis/watch_evidence.h"
#include "sharing/code.h"
#include "sharing/judge.h"
#include "sharing/line_head.h"
#include "sharing/memory_collector.h"
#include "sharing/selection.h"

namespace cacheline::sharing {

class MemoryLines {
 public:
  /// `watched`: what watchpoints trapped, or null. `lineSize`: bytes, of one line; those of the table
  /// are pairs of them with Options::doubleLine.
  MemoryLines(MemoryCollector& collector, Code& code, const analysis::WatchEvidence* watched,
              uint32_t lineSize, const Options& options, Display display)
      : collector_(collector),
        code_(code),
        watched_(watched),
        lineSize_(lineSize),
        pairs_(options.doubleLine),
        threads_(options.threads),
        policy_(policyOf(display)) {
    policy_.keep = options.history;
    policy_.pairs = options.splits.has_value();
  }

  const analysis::WatchedLine* watchedAt(const Line& line) const {
    return watched_ == nullptr ? nullptr : watched_->at({line.space, line.offset});
  }
  /// Of each line its judgement, given to `take(number, judgement)` in the order of the lines on this thread;
  /// judged on as many threads as the options allow.
  void judge(std::span<const SelectedLine> lines,
             const std::function<void(size_t, const LineJudgement&)>& take) const;
  /// What it waits for, of a row; the number of the row in the order of the line's list. `contended`: set.
  void addWaits(const LineJudgement& judgement, size_t row, analysis::Access& access) const;
  /// Of the line's threads those that one of `users` has, sets of ordinals.
  void addThreads(const Line& line, std::span<const BitSet* const> users, analysis::Access& access) const;

  /// The rows to be named are of this line.
  void beginLine(const Line& line) { stackOwner_ = stackOwnerOf(collector_, line); }
  /// `onlySums`: see analysis::RowData.
  void nameData(const Line& line, const Row& row, bool onlySums, analysis::Access& access,
                analysis::TypedRows& rows) const;

 private:
  /// Some lines that follow each other.
  struct Block {
    explicit Block(std::span<const SelectedLine> of) : lines(of) {}
    std::span<const SelectedLine> lines;
    std::vector<LineRow> rows;
    std::vector<size_t> rowsFrom;  ///< by line, and one behind the last
    std::vector<LineJudgement> judgements;
    std::atomic<bool> done = false;
  };
  void addRows(Block& block) const;
  void judgeBlock(Block& block) const;
  LineJudgement judgeLine(const Line& from, std::span<const LineRow> rows) const;

  MemoryCollector& collector_;
  Code& code_;
  const analysis::WatchEvidence* const watched_;
  const uint32_t lineSize_;
  const bool pairs_;
  const unsigned threads_;
  JudgePolicy policy_;
  std::optional<analysis::StackOwner> stackOwner_;
};

}  // namespace cacheline::sharing
