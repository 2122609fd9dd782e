// Fuzzes planAccess, planTrap and planJoin: any bytes and any instruction pointer, and what must hold of
// every answer.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "decode/access.h"
#include "decode/join.h"
#include "decode/trapped.h"

using namespace cacheline;
using namespace cacheline::decode;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

/// Input: 2 bytes that choose the offset of the instruction pointer, 1 that chooses the start address, then
/// code.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kStarts[] = {0, 0x401000, 0x7ffff7dd0000, ~uint64_t{0} - 16};
  if (size < 4) return 0;
  uint16_t chosen = 0;
  std::memcpy(&chosen, data, sizeof chosen);
  const uint64_t start = kStarts[data[2] % 4];
  const std::span<const uint8_t> code(data + 3, size - 3);
  const uint64_t ip = start + chosen % (code.size() + 1);  // one beyond the end too

  const TrapPlan trap = planTrap(code, start, ip);
  if (trap.before) require(trap.before->codeAddress - start < ip - start);
  if (trap.running) require(trap.running->codeAddress == ip);
  Registers anywhere;
  anywhere.mask = kX86SampleRegs;
  if (const auto trapped = trappedAccess(trap, anywhere, start, 8); trapped && trapped->address)
    require(*trapped->address - start < 8 || start - *trapped->address < std::max(trapped->width, 1u));

  if (const auto join = planJoin(code, start, ip)) {
    require(join->from - start <= join->before.codeAddress - start);
    require(join->before.codeAddress - start < ip - start);
    require(join->before.operand.locked && !join->jumps.empty());
    for (const Jump& jump : join->jumps) require(jump.from - start <= jump.at - start);
  }

  const AccessPlan plan = planAccess(code, start, ip);
  const uint64_t access = plan.codeAddress - start, sampled = ip - start;
  require(access <= sampled);
  require((plan.skid == 0) == (access == sampled));
  require(plan.skid <= sampled - access);
  if (sampled >= code.size()) require(plan.failure == Failure::noInstruction);
  const MemoryOperand& operand = plan.operand;
  require(operand.scale == 1 || operand.scale == 2 || operand.scale == 4 || operand.scale == 8);
  if (plan.failure == Failure::none) {
    require(operand.base == kRegNone ||
            (operand.base < kRegCount && ((kX86SampleRegs >> operand.base) & 1) != 0));
    require(operand.index == kRegNone ||
            (operand.index < kRegCount && ((kX86SampleRegs >> operand.index) & 1) != 0));
    Registers registers;
    registers.mask = kX86SampleRegs;
    uint64_t address = 0;
    require(effectiveAddress(operand, registers, address));
    require(address == static_cast<uint64_t>(operand.displacement));
    // The charged instruction accesses memory by itself too, with the same width and kind.
    const AccessPlan own = planAccess(code.subspan(access), plan.codeAddress, plan.codeAddress);
    require(own.failure == Failure::none);
    require(own.operand.width == operand.width && own.operand.kind == operand.kind);
  }
  return 0;
}
