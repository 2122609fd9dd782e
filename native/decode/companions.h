// The other accesses that a thread makes with an access: which samples need not show. Stores retire without
// waiting, and of loads from one cache line only the first one waits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/code_sweep.h"
#include "decode/instruction.h"

namespace cacheline::decode {

/// Another access that is run with an access, a known number of bytes from it.
struct Companion {
  int64_t delta = 0;  ///< bytes from the access's address to this one's
  uint32_t width = 0;
  bool reads = false, writes = false;
};

/// The companions of the instruction at `access` in its block, which begins at `blockStart`; later
/// instructions alone are looked at where that is `access`. Only what is as near as a cache line can be. Any
/// bytes are valid input; a bounded number of instructions is looked at. What was run before the block, or
/// before the loop that it is, tells how far apart registers are.
std::vector<Companion> companionsOf(const Code& code, uint64_t blockStart, uint64_t access);
/// The same of code at `codeStart` of which it is not known what leads there.
std::vector<Companion> companionsOf(std::span<const uint8_t> code, uint64_t codeStart, uint64_t blockStart,
                                    uint64_t access);

/// Those of `line[access]`, where a thread ran `line` and goes on at the start of `ahead`, which lies at
/// `address`, through the end of that basic block.
std::vector<Companion> companionsAlong(std::span<const Instruction> line, size_t access,
                                       std::span<const uint8_t> ahead, uint64_t address);

}  // namespace cacheline::decode
