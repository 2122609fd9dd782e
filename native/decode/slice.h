// Values of registers that were overwritten, evaluated from what still holds.
#pragma once

#include <span>
#include <vector>

#include "decode/instruction.h"

namespace cacheline::decode {

/// What `value` comes to before `line[at]`, by the registers behind the last instruction: it follows copies
/// and updates of its registers that were made since, and their definitions before, as far as these can be
/// evaluated. The instructions of `line` were run one after the other. For evaluate(); empty where the value
/// is lost, or the way to it is longer than a bounded search goes.
std::vector<Sum> recover(std::span<const Instruction> line, size_t at, const Sum& value);

/// The address of an operand.
Sum addressOf(const MemoryOperand& operand);

}  // namespace cacheline::decode
