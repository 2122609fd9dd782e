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
AccessPlan chargeAlong(const Code& code, size_t offset, const AccessPlan& plan) {
  const size_t start = code.sweep.blockStart(offset);
  if (!code.sweep.closed() || !code.sweep.startsAt(offset)) return plan;
  const auto path = pathThrough({{&code, start, offset, start}});
  if (!path) return plan;
  const auto found = std::find(path->addresses.rbegin(), path->addresses.rend(), plan.codeAddress);
  if (found == path->addresses.rend()) return plan;
  const auto index = static_cast<size_t>(path->addresses.rend() - found) - 1;
  return chargeTo(code, path->addresses.front(), path->line, index, plan.codeAddress);
}

}  // namespace

AccessPlan planAccess(std::span<const uint8_t> bytes, uint64_t start, uint64_t ip) {
  const CodeSweep sweep(bytes);
  return planAccess({sweep, bytes, start}, ip);
}

AccessPlan planAccess(const Code& code, uint64_t ip) {
  AccessPlan plan;
  plan.codeAddress = ip;
  const uint64_t offset = ip - code.start;
  if (offset >= code.bytes.size()) return plan;

  std::optional<size_t> leader = code.sweep.leader(offset);
  size_t start = code.sweep.runStart(offset);
  if (!code.sweep.startsAt(offset)) {
    if (!leader) return plan;
    const CodeSweep fromLeader(code.bytes, *leader, CodeSweep::Extent::part);
    if (!fromLeader.startsAt(offset)) return plan;
    leader = fromLeader.leader(offset);
    start = fromLeader.runStart(offset);
  }

  std::vector<Instruction> line;  // from the last access on
  size_t access = 0;
  for (size_t at = start; at <= offset;) {
    Instruction instruction;
    if (!decodeInstruction(code.bytes.subspan(at), code.start + at, instruction)) break;
    // A branch into the middle of an instruction jumps over its lock prefix: the block starts with that
    // instruction.
    if (leader && *leader >= at && *leader < at + instruction.length) line.clear();
    if (at == offset) {
      const bool charged =
          !line.empty() && line.size() <= kMostSkid && !(instruction.accesses && instruction.repeats);
      if (!charged) return ownAccess(instruction, ip);
      plan = chargeTo(line, 0, code.start + access);
      if (plan.failure != Failure::clobbered) return plan;
      return chargeAlong(code, offset, plan);
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
