// Addresses whose registers were overwritten, evaluated from what still holds.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "decode/instruction.h"

namespace cacheline::decode {

/// The address of `operand`, an access of `line[access]`, by the registers behind the last instruction: it
/// follows copies and updates of its registers that were made since, and their definitions before, as far as
/// these can be evaluated. `line` runs straight from its first instruction to its last one. The last of the
/// sums is the address. Empty: it is lost, or the way to it is longer than a bounded search goes.
std::vector<Sum> recoverAddress(std::span<const Instruction> line, size_t access,
                                const MemoryOperand& operand);

/// Sums of one recovered address.
inline constexpr size_t kMostSums = 12;

}  // namespace cacheline::decode
