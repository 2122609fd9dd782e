// The other accesses that a thread makes with an access: which samples need not show. Stores retire without
// waiting, and of loads from one cache line only the first one waits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/instruction.h"

namespace cacheline::decode {

/// Another access that is run with an access, by the same registers.
struct Companion {
  int64_t delta = 0;  ///< bytes from the access's address to this one's
  uint32_t width = 0;
  bool reads = false, writes = false;
};

/// The companions of the instruction at `access`. `code` lies at `codeStart`; the block begins at
/// `blockStart`, or later instructions alone are looked at where that is `access`. Only what is as near as a
/// cache line can be. Any bytes are valid input; a bounded number of instructions is looked at.
std::vector<Companion> companionsOf(std::span<const uint8_t> code, uint64_t codeStart, uint64_t blockStart,
                                    uint64_t access);

/// Those of `line[access]`, where a thread ran `line` and goes on at the start of `ahead`, which lies at
/// `address`, through the end of that basic block.
std::vector<Companion> companionsAlong(std::span<const Instruction> line, size_t access,
                                       std::span<const uint8_t> ahead, uint64_t address);

}  // namespace cacheline::decode
