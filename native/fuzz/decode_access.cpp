// Fuzzes planAccess, planTrap, planJoin, planReturn, companionsOf and instructionText: any bytes and any
// instruction pointer, and what must hold of every answer.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "decode/access.h"
#include "decode/companions.h"
#include "decode/instruction_text.h"
#include "decode/join.h"
#include "decode/trapped.h"

using namespace cacheline;
using namespace cacheline::decode;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr uint64_t kBias = 0x5555'0000'0000;

/// A register of the operand: none, or one that samples have.
bool isSampled(uint8_t reg) {
  return reg == kRegNone || (reg < kRegCount && ((kX86SampleRegs >> reg) & 1) != 0);
}

void checkSums(std::span<const Sum> sums, const Registers& registers) {
  require(sums.size() <= kMostSums);
  for (size_t i = 0; i < sums.size(); ++i)
    for (const Sum::Term& term : sums[i].terms)
      require(isSampled(term.part) || term.part == kCodeBias ||
              (term.part >= kFirstStep && term.part < kFirstStep + i));
  require(evaluate(sums, registers, kBias).has_value());
}

/// Whether a plan's address can be had, from all registers alone.
void checkPlan(const AccessPlan& plan, const Registers& registers) {
  const MemoryOperand& operand = plan.operand;
  require(operand.scale == 1 || operand.scale == 2 || operand.scale == 4 || operand.scale == 8);
  require(plan.skid <= kMostSkid);
  if (plan.failure != Failure::none) return;
  require(isSampled(operand.base) && isSampled(operand.index));
  if (!plan.sums.empty()) checkSums(plan.sums, registers);
  uint64_t address = 0;
  require(effectiveAddress(plan, registers, kBias, address));
}

void checkJoin(const Join& join, const Registers& registers) {
  require(!join.ways.empty());
  for (const Way& way : join.ways) {
    checkPlan(way.before, registers);
    require(way.hasAccess() || way.before.failure == Failure::noMemoryOperand);
    for (const Setting& setting : way.settings) {
      require(isSampled(setting.reg) && !setting.sums.empty());
      checkSums(setting.sums, registers);
    }
  }
  const auto taken = wayTaken(join, registers, kBias);
  require(!taken || (*taken < join.ways.size() && !join.ways[*taken].contradicts(registers, kBias)));
}

}  // namespace

/// Input: 2 bytes that choose the offset of the instruction pointer, 1 that chooses the start address and
/// what values registers have, then code.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kStarts[] = {0, 0x401000, 0x7ffff7dd0000, ~uint64_t{0} - 16};
  if (size < 4) return 0;
  uint16_t chosen = 0;
  std::memcpy(&chosen, data, sizeof chosen);
  const uint64_t start = kStarts[data[2] % 4];
  const std::span<const uint8_t> code(data + 3, size - 3);
  const uint64_t ip = start + chosen % (code.size() + 1);  // one beyond the end too
  Registers registers;
  registers.mask = kX86SampleRegs;
  for (uint64_t& value : registers.value) value = (data[2] >> 2) * 0x0101'0101'0101'0101;

  const TrapPlan trap = planTrap(code, start, ip);
  if (trap.before) require(trap.before->codeAddress - start < ip - start);
  if (trap.running) require(trap.running->codeAddress == ip);
  if (const auto trapped = trappedAccess(trap, registers, start, 8); trapped && trapped->address)
    require(*trapped->address - start < 8 || start - *trapped->address < std::max(trapped->width, 1u));

  const CodeSweep sweep(code);
  const Code function{sweep, code, start};
  if (const auto join = planJoin(function, ip)) {
    checkJoin(*join, registers);
    const Way& straight = join->ways[0];
    if (join->behindLocked) {
      require(straight.from - start <= straight.before.codeAddress - start);
      require(straight.before.codeAddress - start < ip - start);
      require(straight.before.operand.locked && straight.before.skid == 1);
    }
    for (const Way& way : join->ways)
      require(!way.hasAccess() || way.before.codeAddress - start < code.size());
  }
  if (const auto call = callBefore(function, ip))
    if (const auto join = planReturn(function, call->behind)) checkJoin(*join, registers);

  for (size_t at = 0; at < code.size();) {
    const InstructionText text = instructionText(code.subspan(at), start + at);
    require(text.length >= 1 && text.length <= kLongestInstruction && !text.text.empty());
    at += text.length;
  }

  const AccessPlan plan = planAccess(code, start, ip);
  const uint64_t access = plan.codeAddress - start, sampled = ip - start;
  require(access <= sampled);
  require((plan.skid == 0) == (access == sampled));
  require(plan.skid <= sampled - access);
  if (sampled >= code.size()) require(plan.failure == Failure::noInstruction);
  checkPlan(plan, registers);
  if (plan.failure == Failure::none) {
    // The charged instruction accesses memory by itself too, with the same width and kind.
    const AccessPlan own = planAccess(code.subspan(access), plan.codeAddress, plan.codeAddress);
    require(own.failure == Failure::none);
    require(own.operand.width == plan.operand.width && own.operand.kind == plan.operand.kind);
    const uint64_t block = start + sweep.blockStart(access);
    for (const Companion& companion : companionsOf(function, block, plan.codeAddress))
      require((companion.reads || companion.writes) && companion.delta > -256 && companion.delta < 256);
  }
  return 0;
}
