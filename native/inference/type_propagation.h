// Types followed through the registers and stack slots of one function, without knowing any value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/abstract_value.h"
#include "inference/frame_base.h"
#include "inference/function_scopes.h"
#include "layouts/binary_types.h"
#include "symbols/module.h"
#include "types/pointers.h"

namespace cacheline::inference {

/// Why nobody can tell what is accessed. A constant leads out of an object, to an unknown one; or variables
/// have one pointer as several types.
struct Doubt {
  types::TypeId from = types::kNoType;  ///< of the object that a constant leads out of; kNoType: no such case
  std::vector<types::TypeId> enclosingTypes;  ///< each has such an object inside, and a member there
  bool neighbour = false;                     ///< or it is the next element of an array
  std::vector<types::TypeId> casts;           ///< those; empty: no such case
  bool tooLong = false;                       ///< the function was not followed: that would take too long
};

/// The types come from where DWARF states them (variables in registers and on the stack, globals, returns of
/// calls) and go forwards through moves, loads of pointer members, additions and joins that agree; where a
/// register's type is unknown, backwards from the variable that it becomes. x86-64. Not thread-safe.
class TypePropagation {
 public:
  /// What outlives this: all of them.
  TypePropagation(symbols::Module& module, layouts::BinaryTypes& types, CallFrames& frames,
                  const FunctionScopes& function);
  ~TypePropagation();

  struct Operand {
    types::TypeId type = types::kNoType;
    uint64_t offset = 0;     ///< bytes in one object of `type`
    bool indexed = false;    ///< an element of an array of them, or an index takes part
    types::ArrayPart array;  ///< where the index counts elements of an array inside of the object
    AbstractValue address;   ///< before it was brought into the object
    std::string variable;    ///< where it is thread-local: its name
    bool around = false;     ///< known by what contains the object that the address was counted from
    bool contested = false;  ///< as PropagationFacts::isContested() of its base register
    uint64_t origin = 0;     ///< of a variable in the function's frame: its number (pointer_names.h)
    bool inside() const { return array.element != types::kNoType; }
  };
  /// A register that points to an object.
  struct Pointer {
    uint8_t reg = kRegNone;
    types::TypeId type = types::kNoType;
    int64_t offset = 0;   ///< of where it points, from the object's start
    bool moves = false;   ///< to one of several objects
    uint64_t origin = 0;  ///< as AbstractValue::origin
  };
  /// The object that the memory operand of the instruction at an ELF address lies in; nullopt: it is not
  /// known, of which `doubt` (may be null) may have the reason.
  std::optional<Operand> operandAt(uint64_t access, Doubt* doubt = nullptr);
  /// The registers that hold addresses of objects, or of whole elements of arrays, when the instruction
  /// starts.
  std::vector<Pointer> pointersAt(uint64_t access);
  /// Where the code last loaded a pointer, at an ELF address, before an access in its basic block.
  struct Load {
    uint64_t block = 0;    ///< ELF address of the block's first instruction
    uint64_t address = 0;  ///< of the load
    uint8_t reg = kRegNone;
    bool adds = false;  ///< to what was in the register
  };
  std::optional<Load> loadOf(uint64_t pointer, uint64_t access) const;
  /// Of an AbstractValue::origin, as the source has it: `BufferDescriptors`, `State.partial`, `work::sums`;
  /// empty: it has no such name.
  std::string pointerName(uint64_t origin);
  /// What the call that ends at an ELF address allocates `bytes` of, by what its result becomes; kNoType: the
  /// code does not say.
  struct Allocated {
    types::TypeId type = types::kNoType;
    bool fits = false;  ///< what is passed to it is their number or size, as far as it is known
    bool kept = false;  ///< put into memory outside of the frame: what the function returns is another object
    uint64_t head = 0;  ///< bytes ahead of the first one: of an array with a cookie
  };
  Allocated allocatedBy(uint64_t after, uint64_t bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cacheline::inference
