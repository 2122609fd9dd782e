// One linear sweep that collects jumps, then the few straight lines that matter, decoded fully.
#include "decode/join.h"

#include <algorithm>

#include "decode/carry.h"
#include "decode/instruction.h"

namespace cacheline::decode {
namespace {

constexpr ptrdiff_t kMostJumps = 64;  // of more, some is hardly ever ruled out

/// Whether the last instruction may be locked: it has the prefix, or is an xchg.
bool mayEndLocked(std::span<const uint8_t> code) {
  const auto last = code.last(std::min(code.size(), kLongestInstruction));
  return std::any_of(last.begin(), last.end(),
                     [](uint8_t byte) { return byte == 0xf0 || (byte | 1) == 0x87; });
}

/// Code without a branch in it: from behind the last one, or behind a byte that starts no instruction.
struct Line {
  size_t from = 0, last = 0;  ///< its first and its last instruction
};

/// A branch at the end of a line.
struct Branch {
  Line line;
  size_t next = 0;  ///< behind it
  std::optional<size_t> target;
  Condition condition = kOutOfFlags;
};

struct BranchSweep {
  bool reaches = false;          ///< the join starts an instruction
  Line straight;                 ///< which falls through into it
  std::vector<Branch> branches;  ///< direct ones and indirect jumps, by address
  std::vector<size_t> targets;   ///< sorted
  bool closed = true;            ///< no indirect jumps: all ways from one line to another are known
};

BranchSweep sweepBranches(std::span<const uint8_t> code, size_t join) {
  BranchSweep sweep;
  Line line;
  for (size_t at = 0; at < code.size();) {
    if (at == join) {
      sweep.reaches = true;
      sweep.straight = line;
    }
    Flow flow;
    const bool decoded = decodeFlow(code.subspan(at), flow);
    const size_t next = at + (decoded ? flow.length : 1);
    line.last = at;
    if (decoded && flow.hasTarget) {
      const size_t target = at + static_cast<uint64_t>(flow.target);
      sweep.branches.push_back({line, next, target, flow.condition});
      sweep.targets.push_back(target);
    } else if (decoded && flow.condition == kAlways) {
      sweep.branches.push_back({line, next, {}, kAlways});
      sweep.closed = false;
    }
    if (!decoded || flow.endsBlock) line.from = next;
    at = next;
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
size_t commonPart(const BranchSweep& sweep, const Line& line) {
  const auto next = std::upper_bound(sweep.targets.begin(), sweep.targets.end(), line.last);
  return next == sweep.targets.begin() ? line.from : std::max(line.from, *(next - 1));
}

/// Goes back from the join along a way for as long as there is only one.
class WayBack {
 public:
  WayBack(std::span<const uint8_t> code, const BranchSweep& sweep) : code_(code), sweep_(sweep) {}

  std::vector<Demand> demands;
  bool locked = false;  ///< an instruction of the last line that was walked

  /// A line up to `end`. False: others come in behind its beginning.
  bool walk(const Line& line, size_t end) {
    const size_t start = commonPart(sweep_, line);
    locked = false;
    before_.reset();
    uint32_t changed = 0;
    const bool whole = follow(code_, 0, start, end, [&](size_t at, const Instruction& instruction) {
      before_ = at;
      changed |= instruction.written;
      locked |= instruction.operand.locked;
    });
    changed_ |= changed;
    if (!whole) before_.reset();
    return whole && start == line.from;
  }
  bool walkTo(const Branch& branch, bool taken) {
    const uint32_t changedBehind = changed_;
    const bool whole = walk(branch.line, branch.line.last);
    const auto comparison =
        before_ && branch.condition < kAlways ? decodeComparison(code_.subspan(*before_)) : std::nullopt;
    if (comparison && !comparison->uses(changedBehind))
      demands.push_back({*comparison, branch.condition, taken});
    return whole;
  }
  void walkOn(size_t from) {
    for (int steps = 0; steps < kMostSteps && sweep_.closed; ++steps) {
      const auto jumps = std::count_if(sweep_.branches.begin(), sweep_.branches.end(),
                                       [&](const Branch& branch) { return branch.target == from; });
      const auto before = std::find_if(sweep_.branches.begin(), sweep_.branches.end(),
                                       [&](const Branch& branch) { return branch.next == from; });
      if (before == sweep_.branches.end()) return;  // the function's beginning, or behind a return
      const bool falls = before->condition < kAlways && jumps == 0;
      if (!falls && (before->condition != kAlways || jumps != 1)) return;
      const Branch& only = falls ? *before
                                 : *std::find_if(sweep_.branches.begin(), sweep_.branches.end(),
                                                 [&](const Branch& branch) { return branch.target == from; });
      if (only.condition == kOutOfFlags || !walkTo(only, !falls)) return;
      from = only.line.from;
    }
  }

 private:
  static constexpr int kMostSteps = 8;
  std::span<const uint8_t> code_;
  const BranchSweep& sweep_;
  uint32_t changed_ = 0;          ///< registers, from here to the join
  std::optional<size_t> before_;  ///< the instruction before the end of the line
};

}  // namespace

std::optional<Join> planJoin(std::span<const uint8_t> code, uint64_t codeStart, uint64_t ip) {
  const uint64_t offset = ip - codeStart;
  if (offset >= code.size() || !mayEndLocked(code.first(offset))) return {};
  const BranchSweep sweep = sweepBranches(code, offset);
  if (!sweep.reaches || !std::binary_search(sweep.targets.begin(), sweep.targets.end(), offset)) return {};
  if (std::count_if(sweep.branches.begin(), sweep.branches.end(), [&](const Branch& branch) {
        return branch.target.value_or(offset) == offset;
      }) > kMostJumps)
    return {};

  Join join;
  join.from = codeStart + sweep.straight.from;
  Instruction last;
  const bool leads =
      follow(code, codeStart, sweep.straight.from, offset, [&](size_t at, const Instruction& instruction) {
        last = instruction;
        join.before.codeAddress = codeStart + at;
      });
  if (!leads || !last.accesses || !last.operand.locked) return {};
  join.before.skid = 1;
  join.before.failure = last.failure;
  join.before.operand = last.operand;
  if (last.failure == Failure::none && !carryOver(last, join.before.operand))
    join.before.failure = Failure::clobbered;
  WayBack straight(code, sweep);
  if (straight.walk(sweep.straight, offset)) straight.walkOn(sweep.straight.from);
  join.demands = std::move(straight.demands);

  for (const Branch& branch : sweep.branches) {
    if (branch.target.value_or(offset) != offset) continue;
    WayBack way(code, sweep);
    const bool whole = way.walkTo(branch, true);
    const bool locked = way.locked;
    // loop and xbegin change registers themselves.
    if (whole && branch.target && branch.condition != kOutOfFlags) way.walkOn(branch.line.from);
    const bool skips = branch.condition < kAlways && branch.next == sweep.straight.from;
    join.jumps.push_back({codeStart + branch.line.from, codeStart + branch.line.last, branch.condition,
                          locked, skips, std::move(way.demands)});
  }
  return join;
}

}  // namespace cacheline::decode
