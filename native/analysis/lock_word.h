// The instructions with which locks are taken.
#pragma once

#include <cstdint>
#include <span>

namespace cacheline::analysis {

/// Whether the x86-64 instruction at the start of `code` swaps or tests and sets: xchg, cmpxchg, cmpxchg8b,
/// cmpxchg16b or bts with a memory operand (opcodes 86, 87, 0F B0, 0F B1, 0F C7 /1, 0F AB, 0F BA /5; Intel
/// SDM volume 2). Locks take their word with one of them; counters use add, inc, xadd and the like.
bool isSwapOrTestAndSet(std::span<const uint8_t> code);

}  // namespace cacheline::analysis
