// The verdict on a line of the access table: the line's rows, runs and logged samples, put before
// analysis::judgeLine().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/line_verdict.h"
#include "analysis/watch_evidence.h"
#include "decode/companions.h"
#include "decode/later_writes.h"
#include "sharing/access_table.h"
#include "sharing/options.h"

namespace cacheline::sharing {

/// What the code of a row tells about its accesses; width 0: unknown, one byte at least is touched.
struct CodeFacts {
  uint32_t width = 0;
  bool reads = false, writes = false;  ///< beside what was sampled: a locked add is both
  bool locked = false, swaps = false, adds = false;
  std::vector<decode::Companion> companions;
  decode::LaterWrites later;                     ///< of what reads
  std::shared_ptr<const decode::LockStep> lock;  ///< of what writes; null: not known
  bool fixed = false;                            ///< the instruction holds the address, not a register
  std::optional<uint64_t> perCpu;  ///< of the kernel's code: the file's address of a variable of its own CPU
};

/// A row of the line.
struct LineRow {
  const Row* row = nullptr;
  const CodeFacts* facts = nullptr;
  uint64_t code = 0, function = 0;  ///< which instruction, and of which function
  /// The thread of all its accesses, where actors move between threads; kNone: an actor is a thread.
  uint32_t thread = kNone;
  uint32_t reach =
      0;  ///< its accesses began in the line before and reach that many bytes into this one; or 0
  uint64_t storesNext = 0;  ///< samples that showed its actor about to store to the place
};

/// What differs between kinds of evidence.
struct JudgePolicy {
  /// Whether a sample is one of the line's contended samples, if its actor competes.
  std::function<bool(const SourceClass&)> waits;
  Display display = Display::total;  ///< what waits of sums
  /// HITMs and peers' answers are evidence of their own: such a line has a writer even where no store was
  /// sampled; and where no two actors were seen to alternate, those whose time spans overlap compete.
  bool answers = false;
  /// Samples show where time goes: locked instructions take some of it without competitors, too.
  bool timed = false;
  /// Where threads of the table ran: those that took turns on one core wait for nobody. Null: not known, or
  /// what waits shows it by itself.
  const analysis::Whereabouts* where = nullptr;
  bool byThread = false;  ///< rows are of one thread each
  bool pairs = false;     ///< analysis::Waiting::pairs are asked for
  bool keep = false;      ///< what it is judged by is asked for: LineJudgement::accesses
};
/// Of memory samples: the loads that `display` counts wait.
JudgePolicy policyOf(Display display);

struct LineJudgement {
  analysis::Verdict verdict = analysis::Verdict::privateLine;
  bool straddles = false, mixedUse = false, lock = false;
  bool adjacent = false;       ///< the other line of the 128-byte pair is contended, too; set by the caller
  std::vector<bool> competes;  ///< by ordinal of the actor
  bool leftOut = false;        ///< some of its actors were not compared
  std::optional<analysis::LineTurns> turns;  ///< where it is private for that reason
  std::vector<bool> tookTurns;               ///< by ordinal of the actor, as analysis::Judgement::turns
  /// A sample of a competing actor that waited for nobody, or what a logged one stands for.
  struct Unwaited {
    uint32_t row = 0;  ///< in the order given
    uint32_t cpu = 0, weight = 0;
    uint64_t time = 0;     ///< ns
    bool inTurns = false;  ///< see analysis::Meanwhile::onThisCore
  };
  std::vector<Unwaited> unwaited;  ///< by row
  std::span<const Unwaited> unwaitedOf(size_t row) const;
  std::optional<analysis::Waiting> waiting;
  std::vector<analysis::Visitor> visitors;  ///< of `waiting`; `thread` is LineRow's, of the table's threads
  /// By row, in the order given: the uses of `waiting` that are its loads and its stores; kNone where none of
  /// the samples that were kept is one.
  struct RowUses {
    uint32_t loads = kNone, stores = kNone;
    uint32_t any() const { return loads != kNone ? loads : stores; }
  };
  std::vector<RowUses> rows;
  /// By use: the samples of competing actors that the log stands for, those that waited for nobody, too.
  std::vector<uint64_t> logged;
  std::optional<analysis::LineAccesses> accesses;  ///< what it was judged by, where that is kept
  /// Of a line without a known writer that code may write (analysis::LaterWrite::possible).
  std::optional<analysis::IfWritten> ifWritten;
  std::vector<std::string> flags() const;
};

/// `rows`: all of the line, in the order in which their words are numbered.
LineJudgement judgeLine(const AccessTable& table, const Line& line, std::span<const LineRow> rows,
                        const JudgePolicy& policy);

/// Where samples show no sharing, what watchpoints saw access by access decides, and where samples show
/// readers alone they know who writes.
void judgeByWatch(const analysis::WatchedLine& watched, LineJudgement& judgement);

/// What a use waits for, of `contended` samples; of a use without logged samples, what its line does.
analysis::WaitSum waitsOf(const LineJudgement& judgement, uint32_t use, double contended);
/// The false share of the row's causes.
std::optional<double> falseShareOf(const LineJudgement& judgement, size_t row);

}  // namespace cacheline::sharing
