// Types followed through the registers and stack slots of one function, without knowing any value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "symbols/module.h"
#include "types/binary_types.h"
#include "types/frame_base.h"
#include "types/live_variables_scope.h"

namespace cacheline::types {

/// What a register or stack slot is known to hold.
struct Held {
  enum class Kind : uint8_t {
    unknown,
    pointer,  ///< the address of an object of `type`, plus `offset`
    frame,    ///< the call frame address plus `offset`
    constant  ///< `offset` itself, an ELF address or a number
  };
  Kind kind = Kind::unknown;
  bool indexed = false;  ///< plus some number of elements
  TypeId type = kNoType;
  int64_t offset = 0;
  bool operator==(const Held&) const = default;
};

/// The types come from where DWARF states them (variables in registers and on the stack, globals, returns of
/// calls) and go forwards through moves, loads of pointer members, additions and joins that agree; where a
/// register's type is unknown, backwards from the variable that it becomes. x86-64. Not thread-safe.
class TypeTracker {
 public:
  /// What outlives this: all of them.
  TypeTracker(symbols::Module& module, BinaryTypes& types, CallFrames& frames,
              const FunctionScopes& function);
  ~TypeTracker();

  struct Operand {
    TypeId type = kNoType;
    uint64_t offset = 0;   ///< bytes in one object of `type`
    bool indexed = false;  ///< an element of an array of them, or an index takes part
    Held base;             ///< what the operand's address is, before it is brought into the object
  };
  /// The object that the memory operand of the instruction at an ELF address lies in.
  std::optional<Operand> operandAt(uint64_t access);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cacheline::types
