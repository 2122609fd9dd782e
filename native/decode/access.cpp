// The basic block before a sampled instruction pointer, and the access in it that the sample is charged to.
#include "decode/access.h"

#include <algorithm>
#include <array>
#include <bit>

#include "decode/carry.h"
#include "decode/instruction.h"
#include "decode/slice.h"

namespace cacheline::decode {
namespace {

/// Rewrites a plan's operand for the registers as they are after `instruction` ran.
void carryOver(const Instruction& instruction, AccessPlan& plan) {
  if (plan.failure != Failure::none) return;
  if (!carryOver(instruction, plan.operand)) plan.failure = Failure::clobbered;
}

AccessPlan ownAccess(const Instruction& instruction, uint64_t address) {
  AccessPlan plan;
  plan.failure = instruction.accesses ? instruction.failure : Failure::noMemoryOperand;
  plan.codeAddress = address;
  plan.operand = instruction.operand;
  return plan;
}

/// An address that is a base, an index and a displacement after all, as those of a plan's operand.
bool isOperand(const Sum& sum, MemoryOperand& operand) {
  const auto& [first, second] = sum.terms;
  if (sum.bits != 64 || sum.shift != 0) return false;
  const bool fixed = first.part == kCodeBias && first.factor == 1 && second.part == kRegNone;
  const auto isIndex = [](const Sum::Term& term) {
    return term.part < kRegCount && term.factor <= 8 && std::has_single_bit(term.factor);
  };
  const bool swap = first.factor != 1;
  const Sum::Term& base = swap ? second : first;
  const Sum::Term& index = swap ? first : second;
  const bool indexed = (base.part == kRegNone || (base.part < kRegCount && base.factor == 1)) &&
                       (index.part == kRegNone || isIndex(index)) &&
                       (base.part != kRegNone || index.part != kRegNone);
  if (!fixed && !indexed) return false;
  operand.base = base.part == kCodeBias ? uint8_t{kRegNone} : base.part;
  operand.index = index.part;
  operand.scale = index.part == kRegNone ? uint8_t{1} : static_cast<uint8_t>(index.factor);
  operand.displacement = static_cast<int64_t>(sum.constant);
  return true;
}

/// Appends the instructions from one offset up to another. False where they do not lead there.
bool decodeLine(std::span<const uint8_t> code, uint64_t codeStart, size_t from, size_t end,
                std::vector<Instruction>& line) {
  for (size_t at = from; at < end; at += line.back().length) {
    if (!decodeInstruction(code.subspan(at), codeStart + at, line.emplace_back())) return false;
    if (at + line.back().length > end) return false;
  }
  return true;
}

/// Where the straight line through `from` begins: at the last jump into it, at most kMostBefore bytes back,
/// across conditional jumps that are not taken. `from` itself where ways in are not known.
size_t lineStart(const CodeSweep& sweep, std::span<const uint8_t> code, size_t from) {
  constexpr size_t kMostBefore = 192;
  if (!sweep.closed()) return from;
  const size_t lowest = from > kMostBefore ? from - kMostBefore : 0;
  const auto beginning = [&](size_t at) {
    return std::max(sweep.runStart(at), sweep.leader(at).value_or(0));
  };
  size_t start = beginning(from);
  while (start > lowest && !sweep.isTarget(start)) {
    size_t last = start - 1;
    while (last > lowest && !sweep.startsAt(last)) --last;
    Flow flow;
    if (!sweep.startsAt(last) || !decodeFlow(code.subspan(last), flow) || flow.condition >= kAlways ||
        last + flow.length != start)
      break;
    start = beginning(last);
  }
  while (start < lowest || !sweep.startsAt(start)) ++start;
  return std::min(start, from);
}

/// The address of a charged access whose registers were overwritten, where it can be recovered.
void recover(const CodeSweep& sweep, std::span<const uint8_t> code, uint64_t codeStart, size_t offset,
             AccessPlan& plan) {
  const auto at = static_cast<size_t>(plan.codeAddress - codeStart);
  std::vector<Instruction> line;
  if (!decodeLine(code, codeStart, lineStart(sweep, code, at), at, line)) line.clear();
  const size_t access = line.size();
  if (!decodeLine(code, codeStart, at, offset, line)) return;
  plan.sums = recoverAddress(line, access, line[access].operand);
  if (plan.sums.empty()) return;
  plan.failure = Failure::none;
  plan.operand = line[access].operand;
  if (plan.sums.size() == 1 && isOperand(plan.sums[0], plan.operand)) plan.sums.clear();
}

}  // namespace

CodeSweep::CodeSweep(std::span<const uint8_t> code, size_t from, Extent extent)
    : starts_(code.size()), runs_(code.size()), targets_(code.size()), closed_(extent == Extent::function) {
  bool isRun = true;  // begins here
  for (size_t at = from; at < code.size();) {
    starts_[at] = true;
    if (isRun) runs_[at] = true;
    Flow flow;
    const bool decoded = decodeFlow(code.subspan(at), flow);
    const size_t target = at + static_cast<uint64_t>(flow.target);  // wraps far outside where it is before
    if (decoded && flow.hasTarget && target < code.size()) targets_[target] = true;
    const bool leaves = !flow.hasTarget || (flow.condition != kAlways && target >= code.size());
    if (decoded && flow.condition != kOutOfFlags && leaves) closed_ = false;
    at += decoded ? flow.length : 1;
    isRun = !decoded || flow.endsBlock;
  }
}

std::optional<size_t> CodeSweep::lastUpTo(const Marks& marks, size_t offset) {
  for (size_t at = offset + 1; at-- > 0;)
    if (marks[at]) return at;
  return std::nullopt;
}

AccessPlan planAccess(std::span<const uint8_t> code, uint64_t codeStart, uint64_t ip) {
  return planAccess(CodeSweep(code), code, codeStart, ip);
}

AccessPlan planAccess(const CodeSweep& whole, std::span<const uint8_t> code, uint64_t codeStart,
                      uint64_t ip) {
  AccessPlan plan;
  plan.codeAddress = ip;
  const uint64_t offset = ip - codeStart;
  if (offset >= code.size()) return plan;

  std::optional<size_t> leader = whole.leader(offset);
  size_t start = whole.runStart(offset);
  if (!whole.startsAt(offset)) {
    if (!leader) return plan;
    const CodeSweep fromLeader(code, *leader, CodeSweep::Extent::part);
    if (!fromLeader.startsAt(offset)) return plan;
    leader = fromLeader.leader(offset);
    start = fromLeader.runStart(offset);
  }

  bool found = false;
  for (size_t at = start; at <= offset;) {
    Instruction instruction;
    if (!decodeInstruction(code.subspan(at), codeStart + at, instruction)) break;
    // A branch into the middle of an instruction jumps over its lock prefix: the block starts with that
    // instruction.
    if (leader && *leader >= at && *leader < at + instruction.length) found = false;
    if (at == offset) {
      const bool charged = found && plan.skid <= kMostSkid && !(instruction.accesses && instruction.repeats);
      if (!charged) return ownAccess(instruction, ip);
      if (plan.failure == Failure::clobbered) recover(whole, code, codeStart, offset, plan);
      return plan;
    }
    if (instruction.accesses) {
      plan = ownAccess(instruction, codeStart + at);
      found = true;
    }
    if (found) {
      carryOver(instruction, plan);
      if (plan.skid <= kMostSkid) ++plan.skid;
    }
    at += instruction.length;
  }
  return {Failure::noInstruction, ip, 0, {}};
}

bool effectiveAddress(const MemoryOperand& operand, const Registers& registers, uint64_t& address) {
  uint64_t sum = static_cast<uint64_t>(operand.displacement);
  if (operand.base != kRegNone) {
    if (!registers.has(operand.base)) return false;
    sum += registers.value[operand.base];
  }
  if (operand.index != kRegNone) {
    if (!registers.has(operand.index)) return false;
    sum += registers.value[operand.index] * operand.scale;
  }
  address = sum;
  return true;
}

bool effectiveAddress(const AccessPlan& plan, const Registers& registers, uint64_t bias, uint64_t& address) {
  if (plan.sums.empty()) {
    if (!effectiveAddress(plan.operand, registers, address)) return false;
    if (plan.isFixed()) address += bias;
    return true;
  }
  std::array<uint64_t, kMostSums> values;
  size_t known = 0;
  for (const Sum& sum : plan.sums) {
    uint64_t value = sum.constant;
    for (const Sum::Term& term : sum.terms) {
      if (term.part == kRegNone) break;
      if (term.part < kRegCount && !registers.has(term.part)) return false;
      const uint64_t part = term.part < kRegCount    ? registers.value[term.part]
                            : term.part == kCodeBias ? bias
                                                     : values[term.part - kFirstStep];
      value += part * term.factor;
    }
    values[known++] = sum.extend(value);
  }
  address = values[known - 1];
  return true;
}

}  // namespace cacheline::decode
