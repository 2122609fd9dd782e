// The verdict on a line of memory samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/line_verdict.h"
#include "c2c/access_table.h"
#include "c2c/options.h"
#include "decode/companions.h"

namespace cacheline::c2c {

/// What the code of a row tells about its accesses; width 0: unknown, one byte at least is touched.
struct CodeFacts {
  uint32_t width = 0;
  bool reads = false, writes = false;  ///< beside what was sampled: a locked add is both
  bool locked = false, swaps = false;
  std::vector<decode::Companion> companions;
  bool fixed = false;              ///< the instruction holds the address, not a register
  std::optional<uint64_t> perCpu;  ///< of the kernel's code: the file's address of a variable of its own CPU
};

/// A row of the line, in the order of the line's list.
struct RowCode {
  const CodeFacts* facts = nullptr;
  uint64_t code = 0, function = 0;  ///< which instruction, and of which function
};

struct LineJudgement {
  analysis::Verdict verdict = analysis::Verdict::privateLine;
  std::vector<std::string> flags;
  std::vector<bool> competes;  ///< by ordinal of the use
  bool leftOut = false;        ///< some of its threads were not compared
  std::optional<analysis::Waiting> waiting;
  /// By row, in the order of the line's list: the uses of `waiting` that are its loads and its stores; kNone
  /// where none of the samples that were kept is one.
  struct RowUses {
    uint32_t loads = kNone, stores = kNone;
  };
  std::vector<RowUses> rows;
};

/// The rules of analysis/line_verdict.h with two additions, since a HITM (or a peer's answer) is evidence of
/// its own: such a line has a writer even where no store was sampled; and where no two threads were seen to
/// alternate, those whose time spans overlap count as competing. What waits are the loads that `display`
/// counts. `adjacent`: the other line of the 128-byte pair has HITMs too.
LineJudgement judgeLine(const AccessTable& table, const Line& line, uint32_t lineSize,
                        const std::vector<RowCode>& rows, Display display, bool adjacent);

/// What waits of the accesses of a row, whose loads that count are `contended`.
analysis::WaitSum waitsOf(const LineJudgement& judgement, size_t row, uint64_t contended);
/// The false share of the row's causes.
std::optional<double> falseShareOf(const LineJudgement& judgement, size_t row);

}  // namespace cacheline::c2c
