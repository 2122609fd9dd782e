// DWARF location expressions over a register snapshot: where a variable lies, or what it holds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/registers.h"

namespace cacheline::inference {

/// One operation; jumps lead to operations, not to bytes.
struct Operation {
  uint8_t code = 0;                ///< DW_OP_*
  uint64_t first = 0, second = 0;  ///< operands as DWARF states them; of a jump: index of its target
  uint32_t inner = ~0u;            ///< of entry values and implicit pointers: index in Expression::inner
};

/// A location expression that needs no libdw any more. Any content may be evaluated.
struct Expression {
  std::vector<Operation> operations;  ///< empty: the variable is nowhere (optimised out)
  std::vector<Expression> inner;
};

/// Where a variable is while the instruction pointer is in [low, high), ELF addresses.
struct LocationRange {
  uint64_t low = 0, high = UINT64_MAX;
  Expression expression;
};
/// Where some bytes of a variable are.
struct Place {
  enum class Kind : uint8_t { memory, value, unknown };
  Kind kind = Kind::unknown;
  uint64_t number = 0;               ///< memory: address in the process; value: the bytes themselves
  uint64_t offset = 0;               ///< in the variable, bytes
  uint64_t size = 0;                 ///< bytes; 0: the whole variable
  const char* reason = "not known";  ///< why unknown
};

/// A variable's place or, where the compiler split it, its pieces.
struct Places {
  static constexpr size_t kMost = 16;  ///< pieces beyond these are unknown
  std::array<Place, kMost> piece;
  size_t count = 0;
  std::span<const Place> all() const { return {piece.data(), count}; }
};

/// What an expression may ask for. Pointers may be null: the operation that needs it gives unknown.
struct LocationContext {
  const Registers* registers = nullptr;   ///< as they were at the instruction
  const Expression* frameBase = nullptr;  ///< DW_AT_frame_base of the function
  const Expression* cfa = nullptr;        ///< the rule of the call frame information at the instruction
  uint64_t loadBias = 0;                  ///< added to addresses of the file
};

/// Bounded in operations, stack and nesting; never throws. Needed memory is unknown: a sample has none.
/// Semantics: DWARF 5, 2.5 and 2.6.
void evaluate(const Expression& expression, const LocationContext& context, Places& places);

/// `register + offset`, or a constant address of the file: the forms that need no evaluator.
struct Linear {
  bool inMemory = true;    ///< else the number is the variable's value
  uint8_t reg = kRegNone;  ///< X86Register; kRegNone: `offset` is an address of the file, or a plain number
  bool isAddress = false;  ///< the load bias is to be added
  int64_t offset = 0;
};
/// The expression as one of these forms; nullopt where it is none of them.
std::optional<Linear> linearForm(const Expression& expression, const Expression* frameBase,
                                 const Expression* cfa);

/// perf's number of a DWARF register (System V ABI, AMD64, figure 3.36); kRegNone for those that hold no
/// addresses.
uint8_t perfRegister(uint64_t dwarfRegister);

}  // namespace cacheline::inference
