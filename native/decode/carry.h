// Operands rewritten for the registers as later instructions leave them.
#pragma once

#include "decode/instruction.h"

namespace cacheline::decode {

/// old(reg) in terms of the registers after `instruction`, for one part of an operand. False: lost.
inline bool follow(const Instruction& instruction, uint8_t& reg, uint8_t scale, int64_t& displacement) {
  if (reg == kRegNone) return true;
  if (((instruction.written >> reg) & 1) == 0) return true;
  const Definition& moved = instruction.definition;
  if (!moved.isMove() || moved.value.terms[0].part != reg) return false;
  displacement = static_cast<int64_t>(static_cast<uint64_t>(displacement) - moved.value.constant * scale);
  reg = moved.reg;
  return true;
}

/// Rewrites `operand` for the registers as they are after `instruction` ran. False: what it needs is lost.
inline bool carryOver(const Instruction& instruction, MemoryOperand& operand) {
  return follow(instruction, operand.base, 1, operand.displacement) &&
         follow(instruction, operand.index, operand.scale, operand.displacement);
}

}  // namespace cacheline::decode
