// Registers as sums over what they held before some code: whether two addresses are a known number of bytes
// apart.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "decode/instruction.h"

namespace cacheline::decode {

/// Follows instructions that are run one after the other. What a register takes from moves, sums, and
/// products with constants, all of 64 bits, is a sum; what it takes from anything else is a value of its own.
class LinearValues {
 public:
  struct Value {
    std::vector<std::pair<uint32_t, uint64_t>> terms;  ///< value and factor; ascending, no factor is 0
    uint64_t constant = 0;

    void add(uint32_t value, uint64_t factor);
    void add(const Value& other, uint64_t factor);
    bool operator==(const Value&) const = default;
  };

  LinearValues();
  void run(const Instruction& instruction);
  /// Registers (bit n: X86Register n) take values of which nothing is known.
  void forget(uint32_t registers);
  /// Of an operand of the instruction that is run next; it has an address.
  Value addressOf(const MemoryOperand& operand) const;

 private:
  void add(Value& value, uint8_t part, uint64_t factor) const;

  std::array<Value, kRegCount> registers_;
  uint32_t next_ = kFirstStep;  ///< the next value of its own
};

/// Bytes from one address to another; empty where that is not known.
std::optional<int64_t> distance(const LinearValues::Value& from, const LinearValues::Value& to);

}  // namespace cacheline::decode
