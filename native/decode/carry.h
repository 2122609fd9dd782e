// Operands rewritten for the registers as later instructions leave them.
#pragma once

#include "decode/instruction.h"

namespace cacheline::decode {

/// old(reg) in terms of the registers after `instruction`, for one part of an operand. False: lost.
inline bool follow(const Instruction& instruction, uint8_t& reg, uint8_t scale, int64_t& displacement) {
  if (reg == kRegNone) return true;
  if (reg == instruction.recovery.reg) {
    const uint64_t delta = static_cast<uint64_t>(instruction.recovery.delta) * scale;
    displacement = static_cast<int64_t>(static_cast<uint64_t>(displacement) + delta);
    reg = instruction.recovery.from;
    return true;
  }
  return ((instruction.written >> reg) & 1) == 0;
}

/// Rewrites `operand` for the registers as they are after `instruction` ran. False: what it needs is lost.
inline bool carryOver(const Instruction& instruction, MemoryOperand& operand) {
  return follow(instruction, operand.base, 1, operand.displacement) &&
         follow(instruction, operand.index, operand.scale, operand.displacement);
}

}  // namespace cacheline::decode
