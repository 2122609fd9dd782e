// The instruction before a trap, checked against the registers at it.
#include "decode/trapped.h"

#include <algorithm>

#include "decode/code_sweep.h"
#include "decode/instruction.h"

namespace cacheline::decode {
namespace {

// Fast string operations trap behind a group of iterations of up to a cache line.
constexpr uint64_t kStringReach = 64 + 8;

std::optional<TrapPlan::Candidate> candidate(std::span<const uint8_t> code, uint64_t codeStart, size_t at,
                                             bool mustRepeat) {
  Instruction instruction;
  if (at >= code.size() || !decodeInstruction(code.subspan(at), codeStart + at, instruction))
    return std::nullopt;
  if (!instruction.accesses || (mustRepeat && !instruction.repeats)) return std::nullopt;
  TrapPlan::Candidate result{codeStart + at, instruction.operand, false};
  result.addressKnown = instruction.failure == Failure::none && !instruction.operand.stringOperation &&
                        carryOver(instruction, result.operand);
  return result;
}

bool isNear(const Registers& registers, uint8_t reg, uint64_t watched) {
  return registers.has(reg) && registers.value[reg] - watched + kStringReach <= 2 * kStringReach;
}

/// Which of its operands a string operation touched: its registers have moved on by some iterations.
std::optional<TrappedAccess> ofString(const TrapPlan::Candidate& from, const Registers& registers,
                                      uint64_t watched, TrappedAccess result) {
  const bool source = isNear(registers, kRegSi, watched), target = isNear(registers, kRegDi, watched);
  if (!source && !target) return std::nullopt;
  // movs writes at rdi and reads at rsi; the others do one thing only.
  if (from.operand.kind == AccessKind::read)
    result.kind = AccessKind::read;
  else if (source != target)
    result.kind = source ? AccessKind::read : AccessKind::write;
  return result;
}

std::optional<TrappedAccess> of(const TrapPlan::Candidate& from, const Registers& registers, uint64_t watched,
                                uint32_t length, uint64_t bias, bool sure) {
  TrappedAccess result;
  result.codeAddress = from.codeAddress;
  result.width = from.operand.width;
  result.locked = from.operand.locked;
  if (from.operand.stringOperation) return ofString(from, registers, watched, result);
  uint64_t address = 0;
  if (!from.addressKnown || !effectiveAddress(from.operand, registers, address)) {
    if (sure) result.kind = from.operand.kind;
    return result;
  }
  if (from.operand.base == kRegNone && from.operand.index == kRegNone) address += bias;
  const uint64_t width = std::max<uint64_t>(from.operand.width, 1);
  if (address - watched >= length && watched - address >= width) return std::nullopt;
  result.kind = from.operand.kind;
  result.address = address;
  return result;
}

}  // namespace

TrapPlan planTrap(std::span<const uint8_t> code, uint64_t codeStart, uint64_t ip) {
  TrapPlan plan;
  const uint64_t offset = ip - codeStart;
  if (offset >= code.size()) return plan;
  const auto at = static_cast<size_t>(offset);
  CodeSweep sweep(code);
  plan.joined = sweep.isTarget(at);
  // An instruction that the sweep is out of step with may begin behind the target of a jump.
  if (const auto leader = at > 0 ? sweep.leader(at - 1) : std::nullopt; leader && !sweep.startsAt(at)) {
    sweep = CodeSweep(code, *leader, CodeSweep::Extent::part);
    plan.joined |= sweep.isTarget(at);
  }
  if (!sweep.startsAt(at)) return plan;
  const auto before = sweep.runStart(at) < at ? sweep.instructionBefore(code, at) : std::nullopt;
  if (before) plan.before = candidate(code, codeStart, *before, false);
  plan.running = candidate(code, codeStart, at, true);
  return plan;
}

std::optional<TrappedAccess> trappedAccess(const TrapPlan& plan, const Registers& registers, uint64_t watched,
                                           uint32_t length, uint64_t bias) {
  if (plan.running)
    if (const auto found = of(*plan.running, registers, watched, length, bias, true)) return found;
  if (!plan.before) return std::nullopt;
  return of(*plan.before, registers, watched, length, bias, !plan.joined);
}

}  // namespace cacheline::decode
