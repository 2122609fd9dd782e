// The basic block before a sampled instruction pointer, and the access in it that the sample is charged to.
#include "decode/access.h"

#include <algorithm>

#include "decode/carry.h"
#include "decode/instruction.h"

namespace cacheline::decode {
namespace {

/// What a linear sweep over the function tells about the code that leads straight to one offset.
struct Sweep {
  bool reachesIp = false;  ///< the offset starts an instruction of this sweep
  size_t runStart = 0;     ///< after the last block end, or undecodable byte, before the offset
  bool hasLeader = false;
  size_t leader = 0;  ///< greatest target of a direct branch that is not beyond the offset
};

/// Decodes `code` from `from` through its end: a branch after `ip` may lead into its block too. A byte that
/// starts no instruction (padding, data) is skipped and separates blocks; x86 code falls back into step
/// within a few instructions.
Sweep sweepCode(std::span<const uint8_t> code, size_t from, size_t ip) {
  Sweep sweep;
  sweep.runStart = from;
  for (size_t at = from; at < code.size();) {
    if (at == ip) sweep.reachesIp = true;
    Flow flow;
    const bool decoded = decodeFlow(code.subspan(at), flow);
    if (decoded && flow.hasTarget) {
      const uint64_t target =
          at + static_cast<uint64_t>(flow.target);  // wraps far outside for targets before the code
      if (target <= ip && (!sweep.hasLeader || target > sweep.leader)) {
        sweep.hasLeader = true;
        sweep.leader = target;
      }
    }
    at += decoded ? flow.length : 1;
    if ((!decoded || flow.endsBlock) && at <= ip) sweep.runStart = at;
  }
  return sweep;
}

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

AccessPlan planAccess(std::span<const uint8_t> code, uint64_t codeStart, uint64_t ip) {
  AccessPlan plan;
  plan.codeAddress = ip;
  const uint64_t offset = ip - codeStart;
  if (offset >= code.size()) return plan;

  Sweep sweep = sweepCode(code, 0, offset);
  if (!sweep.reachesIp && sweep.hasLeader) sweep = sweepCode(code, sweep.leader, offset);
  if (!sweep.reachesIp) return plan;

  bool found = false;
  for (size_t at = sweep.runStart; at <= offset;) {
    Instruction instruction;
    if (!decodeInstruction(code.subspan(at), codeStart + at, instruction)) break;
    // A branch into the middle of an instruction jumps over its lock prefix: the block starts with that
    // instruction.
    if (sweep.hasLeader && sweep.leader >= at && sweep.leader < at + instruction.length) found = false;
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
