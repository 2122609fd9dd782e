// Conditions of jumps: whether the flags meet them, and comparisons that can be made once more from
// registers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/registers.h"

namespace cacheline::decode {

/// The low four bits of a conditional jump's opcode (Intel SDM vol. 1, appendix B), or one of the others.
using Condition = uint8_t;
inline constexpr Condition kEqual = 4;
inline constexpr Condition kAlways = 0x10;      ///< jmp
inline constexpr Condition kOutOfFlags = 0x11;  ///< loop, jrcxz, xbegin: the flags do not say

/// False only where the jump is not taken with these flags.
bool mayHold(Condition condition, uint64_t flags);

/// What `cmp` or `test` holds against each other.
struct Comparison {
  struct Side {
    uint8_t reg = kRegNone;  ///< X86Register; kRegNone: memory, or the constant
    bool memory = false;
    uint64_t constant = 0;
  };
  Side left, right;
  uint8_t bits = 64;  ///< of what is compared: 8, 16, 32 or 64; never ah, bh, ch, dh
  bool test = false;

  bool readsMemory() const { return left.memory || right.memory; }
  /// Whether one of the registers is in a set (bit n: X86Register n).
  bool uses(uint32_t registers) const;
  /// The flags that it leaves, as far as conditions ask for them. Empty where it reads memory, or the
  /// snapshot lacks a register.
  std::optional<uint64_t> flags(const Registers& registers) const;
};

/// The comparison at the start of `bytes`. Empty: it is none.
std::optional<Comparison> decodeComparison(std::span<const uint8_t> bytes);

}  // namespace cacheline::decode
