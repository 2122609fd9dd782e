// One linear sweep that collects jumps, then the few straight lines that matter, decoded fully.
#include "decode/join.h"

#include <algorithm>

#include "decode/carry.h"
#include "decode/instruction.h"

namespace cacheline::decode {
namespace {

/// Code without a branch in it: from behind the last one, or behind a byte that starts no instruction.
struct Line {
  size_t from = 0, last = 0;  ///< its first and its last instruction
};

struct JumpSweep {
  bool reaches = false;  ///< the join starts an instruction
  Line straight;         ///< which falls through into it
  std::vector<std::pair<Line, Condition>> jumps;
  std::vector<size_t> targets;  ///< of direct branches, sorted
};

JumpSweep sweepJumps(std::span<const uint8_t> code, size_t join) {
  JumpSweep sweep;
  Line line;
  for (size_t at = 0; at < code.size();) {
    if (at == join) {
      sweep.reaches = true;
      sweep.straight = line;
    }
    Flow flow;
    const bool decoded = decodeFlow(code.subspan(at), flow);
    line.last = at;
    const uint64_t target = at + static_cast<uint64_t>(flow.target);
    if (decoded && flow.hasTarget && target < code.size()) sweep.targets.push_back(target);
    if (decoded && (flow.hasTarget ? target == join : flow.condition == kAlways))
      sweep.jumps.emplace_back(line, flow.condition);
    at += decoded ? flow.length : 1;
    if (!decoded || flow.endsBlock) line.from = at;
  }
  std::sort(sweep.targets.begin(), sweep.targets.end());
  return sweep;
}

/// Calls `visit` for each instruction of a line up to `end`. False where they do not lead there.
bool follow(std::span<const uint8_t> code, uint64_t codeStart, size_t from, size_t end, const auto& visit) {
  size_t at = from;
  for (Instruction instruction; at < end; at += instruction.length) {
    if (!decodeInstruction(code.subspan(at), codeStart + at, instruction)) return false;
    visit(at, instruction);
  }
  return at == end;
}

/// Where a line begins for all who run its end: others may jump into it.
size_t commonPart(const JumpSweep& sweep, const Line& line) {
  const auto next = std::upper_bound(sweep.targets.begin(), sweep.targets.end(), line.last);
  return next == sweep.targets.begin() ? line.from : std::max(line.from, *(next - 1));
}

}  // namespace

std::optional<Join> planJoin(std::span<const uint8_t> code, uint64_t codeStart, uint64_t ip) {
  const uint64_t offset = ip - codeStart;
  if (offset >= code.size()) return {};
  const JumpSweep sweep = sweepJumps(code, offset);
  if (!sweep.reaches || !std::binary_search(sweep.targets.begin(), sweep.targets.end(), offset)) return {};

  Join join;
  join.from = codeStart + sweep.straight.from;
  uint32_t overwritten = 0;
  Instruction last;
  const bool leads =
      follow(code, codeStart, sweep.straight.from, offset, [&](size_t at, const Instruction& instruction) {
        last = instruction;
        join.before.codeAddress = codeStart + at;
        overwritten |= instruction.written;
        if (instruction.recovery.reg != kRegNone) overwritten |= 1u << instruction.recovery.reg;
      });
  if (!leads || !last.accesses || !last.operand.locked) return {};
  join.before.skid = 1;
  join.before.failure = last.failure;
  join.before.operand = last.operand;
  if (last.failure == Failure::none && !carryOver(last, join.before.operand))
    join.before.failure = Failure::clobbered;

  for (const auto& [line, condition] : sweep.jumps) {
    Jump jump{codeStart + line.from, codeStart + line.last, condition, false, false, {}};
    size_t beforeJump = line.last;
    follow(code, codeStart, commonPart(sweep, line), line.last,
           [&](size_t at, const Instruction& instruction) {
             beforeJump = at;
             jump.locked |= instruction.operand.locked;
           });
    Flow flow;
    jump.skips = condition < kAlways && decodeFlow(code.subspan(line.last), flow) &&
                 line.last + flow.length == sweep.straight.from;
    if (jump.skips) jump.comparison = decodeComparison(code.subspan(beforeJump));
    if (jump.comparison && jump.comparison->uses(overwritten)) jump.comparison.reset();
    join.jumps.push_back(jump);
  }
  return join;
}

}  // namespace cacheline::decode
