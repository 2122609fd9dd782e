// The verdict on a line of memory samples.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/verdict.h"
#include "c2c/access_table.h"

namespace cacheline::c2c {

/// What the code of a row tells about its accesses; width 0: unknown, one byte at least is touched.
struct CodeFacts {
  uint32_t width = 0;
  bool reads = false, writes = false;  ///< beside what was sampled: a locked add is both
  bool locked = false, swaps = false;
  bool fixed = false;              ///< the instruction holds the address, not a register
  std::optional<uint64_t> perCpu;  ///< of the kernel's code: the file's address of a variable of its own CPU
};

struct LineJudgement {
  analysis::Verdict verdict = analysis::Verdict::privateLine;
  std::vector<std::string> flags;
  std::vector<bool> competes;  ///< by ordinal of the use
};

/// The rules of analysis/verdict.h with two additions, since a HITM (or a peer's answer) is evidence of its
/// own: such a line has a writer even where no store was sampled; and where no two threads were seen to
/// alternate, those whose time spans overlap count as competing. `facts`: of each row, in the order of the
/// line's list. `adjacent`: the other line of the 128-byte pair has HITMs too.
LineJudgement judgeLine(const AccessTable& table, const Line& line, uint32_t lineSize,
                        const std::vector<CodeFacts>& facts, bool adjacent);

}  // namespace cacheline::c2c
