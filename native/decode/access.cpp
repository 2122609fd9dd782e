// The basic block before a sampled instruction pointer, and the access in it that the sample is charged to.
#include "decode/access.h"

#include <algorithm>

#include "decode/charge.h"
#include "decode/instruction.h"
#include "decode/paths.h"

namespace cacheline::decode {
namespace {

AccessPlan ownAccess(const Instruction& instruction, uint64_t address) {
  AccessPlan plan;
  plan.failure = instruction.accesses ? instruction.failure : Failure::noMemoryOperand;
  plan.codeAddress = address;
  plan.operand = instruction.operand;
  return plan;
}

/// The same plan as chargeTo() by what was run before the access, too, where that is known.
AccessPlan chargeAlong(const Code& code, size_t access, size_t offset, const AccessPlan& plan) {
  const size_t start = code.sweep.blockStart(offset);
  if (!code.sweep.closed() || !code.sweep.startsAt(offset)) return plan;
  const auto path = pathThrough(code, {{start, offset, start}});
  if (!path) return plan;
  const auto found = std::find(path->offsets.rbegin(), path->offsets.rend(), access);
  if (found == path->offsets.rend()) return plan;
  const auto index = static_cast<size_t>(path->offsets.rend() - found) - 1;
  return chargeTo(path->line, index, plan.codeAddress);
}

}  // namespace

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

  std::vector<Instruction> line;  // from the last access on
  size_t access = 0;
  for (size_t at = start; at <= offset;) {
    Instruction instruction;
    if (!decodeInstruction(code.subspan(at), codeStart + at, instruction)) break;
    // A branch into the middle of an instruction jumps over its lock prefix: the block starts with that
    // instruction.
    if (leader && *leader >= at && *leader < at + instruction.length) line.clear();
    if (at == offset) {
      const bool charged =
          !line.empty() && line.size() <= kMostSkid && !(instruction.accesses && instruction.repeats);
      if (!charged) return ownAccess(instruction, ip);
      plan = chargeTo(line, 0, codeStart + access);
      if (plan.failure != Failure::clobbered) return plan;
      return chargeAlong({whole, code, codeStart}, access, offset, plan);
    }
    if (instruction.accesses || instruction.pauses) line.clear();
    if (instruction.accesses) access = at;
    if (instruction.accesses || (!line.empty() && line.size() <= kMostSkid)) line.push_back(instruction);
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
  const auto value = evaluate(plan.sums, registers, bias);
  if (!value) return false;
  address = *value;
  return true;
}

}  // namespace cacheline::decode
