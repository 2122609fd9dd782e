// Loads whose value is stored back: x = x + 1 in three instructions.
#pragma once

#include <cstdint>
#include <span>

namespace cacheline::decode {

/// Whether the instruction at the start of `code`, which lies at `address`, reads a place that an instruction
/// behind it writes, in the same basic block and before a register of its address is lost: the read of a
/// read-modify-write. Stores retire without waiting, so that samples hardly show them. Any bytes are valid
/// input; a bounded number of instructions is looked at.
bool isWrittenBack(std::span<const uint8_t> code, uint64_t address);

}  // namespace cacheline::decode
