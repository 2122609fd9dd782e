// A value as a sum over registers: what an instruction leaves in a register, and a step of a recovered
// address.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/registers.h"

namespace cacheline::decode {

/// Parts of a sum that are no registers.
inline constexpr uint8_t kCodeBias = kRegCount;       ///< of the process's code addresses over those decoded
inline constexpr uint8_t kFirstStep = kRegCount + 1;  ///< and on: the value of an earlier sum

/// The low `bits` of part * factor + part * factor + constant (modulo 2^64), extended to 64 bits, then
/// shifted right, arithmetically where signed. No shift unless it is exact for all 64 bits of the result.
struct Sum {
  struct Term {
    uint8_t part = kRegNone;  ///< X86Register, kCodeBias, kFirstStep + n, or kRegNone: no term
    uint64_t factor = 0;
    bool operator==(const Term&) const = default;
    auto operator<=>(const Term&) const = default;
  };
  Term terms[2];
  uint64_t constant = 0;
  uint8_t bits = 64;      ///< 1 to 64
  bool isSigned = false;  ///< how it is extended and shifted
  uint8_t shift = 0;
  bool operator==(const Sum&) const = default;
  auto operator<=>(const Sum&) const = default;

  /// Adds part * factor, joined with a term of the same part. At most two different parts.
  void add(uint8_t part, uint64_t factor);
  /// The value for the low bits that the terms and the constant make.
  uint64_t extend(uint64_t sum) const;
};

/// Sums of one value.
inline constexpr size_t kMostSums = 12;

/// The last of some sums (at most kMostSums), each of which may count on those before it. `bias`: the value
/// of kCodeBias. Empty where a register is not in the snapshot. Allocates nothing.
std::optional<uint64_t> evaluate(std::span<const Sum> sums, const Registers& registers, uint64_t bias);

/// What an instruction leaves in a register, by the registers before it.
struct Definition {
  uint8_t reg = kRegNone;  ///< X86Register, all 64 bits of it; kRegNone: nothing that is known
  Sum value;

  /// Whether it is another register, or this one, plus a constant. The term of that is the first.
  bool isMove() const {
    return reg != kRegNone && value.terms[0].part < kRegCount && value.terms[0].factor == 1 &&
           value.terms[1].part == kRegNone && value.bits == 64 && value.shift == 0;
  }
};

}  // namespace cacheline::decode
