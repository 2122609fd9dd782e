// The basic block before a sampled instruction pointer, and the access in it that the sample is charged to.
#include "decode/access.h"

#include <algorithm>

#include "decode/carry.h"
#include "decode/instruction.h"

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

}  // namespace

CodeSweep::CodeSweep(std::span<const uint8_t> code, size_t from)
    : starts_(code.size()), runs_(code.size()), targets_(code.size()) {
  bool isRun = true;  // begins here
  for (size_t at = from; at < code.size();) {
    starts_[at] = true;
    if (isRun) runs_[at] = true;
    Flow flow;
    const bool decoded = decodeFlow(code.subspan(at), flow);
    const size_t target = at + static_cast<uint64_t>(flow.target);  // wraps far outside where it is before
    if (decoded && flow.hasTarget && target < code.size()) targets_[target] = true;
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
    const CodeSweep fromLeader(code, *leader);
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
      return charged ? plan : ownAccess(instruction, ip);
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

}  // namespace cacheline::decode
