// Which objects an instruction's code has in its hands: variables and parameters with their places, and types
// followed through registers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/registers.h"
#include "inference/type_propagation.h"
#include "layouts/binary_types.h"
#include "symbols/module.h"

namespace cacheline::inference {

/// An object that holds the accessed address, by what the code around the access says.
struct CodeObject {
  enum class How : uint8_t {
    stack,       ///< the variable itself lies there: a local of the function or of what is inlined in it
    pointer,     ///< a live pointer or reference variable points to it
    propagated,  ///< the base register's type was followed through the code
    around,      ///< as propagated, to a member of the object: only this type has it where the address leads
    threadLocal  ///< the thread-local variable itself lies there, by the code's way to it
  };
  How how = How::pointer;
  types::TypeId type = types::kNoType;  ///< of the whole object
  uint64_t base = 0;  ///< address of its start in the process; of an array: of its first element where known
  std::string variable;    ///< `worker`, `this`; empty where propagated
  bool ofPointer = false;  ///< the variable is a pointer or a reference, not an iterator or a number
  std::string function;    ///< whose variable; empty where it is not a function's
  uint32_t depth = 0;      ///< 0: the innermost inlined function at the access, counting outwards
  /// `base` is the first of several objects of `type`, one after the other, and the address may lie in any;
  /// where propagated, `base` may be the start of that very element.
  bool array = false;
  /// It is an element of an array inside of an object of this type, of which nobody knows where it starts: at
  /// `enclosingOffset` of that, or some elements further on. kNoType: not so.
  types::TypeId enclosing = types::kNoType;
  uint64_t enclosingOffset = 0;
  /// It is an element of the array that a pointer leads to (AbstractValue::origin), by which the code got
  /// there; 0: not known. Where `array` is set and the element is not the object itself, the pointer holds
  /// `base`. Objects with members only go by pointers with static storage: people know them by their types.
  uint64_t origin = 0;
  std::string pointer;  ///< name of that; empty: it has none
};

/// Not thread-safe.
class LiveVariables {
 public:
  LiveVariables(symbols::Module& module, layouts::BinaryTypes& types);
  ~LiveVariables();

  /// Objects that contain [address, address + width), by the variables live at `ip`, an ELF address, with
  /// `registers` as they were there. `access`: ELF address of the accessing instruction, at or before `ip`.
  /// `load bias`: what to add to ELF addresses for the process's. Outermost objects first; empty: nothing
  /// known, of which `doubt` (may be null) may have the reason.
  std::vector<CodeObject> objectsAt(uint64_t access, uint64_t ip, uint64_t loadBias,
                                    const Registers& registers, uint64_t address, uint32_t width,
                                    Doubt* doubt = nullptr);
  /// A class that the debug information does not define and a variable that is live there points to; kNoType:
  /// none.
  types::TypeId undefinedAt(uint64_t access, uint64_t ip);
  /// Without registers: the type that the memory operand's base register points to, and the operand's offset
  /// in it. `offset` is the displacement where an index register takes part; `element`, not 0: the index may
  /// count elements of so many bytes of an array inside of the object, and the offset is in any of them.
  struct TypedOperand {
    types::TypeId type = types::kNoType;
    uint64_t offset = 0;
    bool indexed = false;
    uint64_t element = 0;
    std::string variable;  ///< the thread-local variable that it is, if it is one
    bool around = false;   ///< as CodeObject::How
    uint64_t origin = 0;   ///< where indexed, or without members: as CodeObject
    std::string pointer;   ///< as CodeObject
  };
  /// Of a function whose objects nobody asked for it keeps what it read until it is asked of another one.
  /// nullopt: it is not known, of which `doubt` (may be null) may have the reason.
  std::optional<TypedOperand> operandType(uint64_t access, Doubt* doubt = nullptr);

  /// What the call that ends at `after`, an ELF address, allocates `bytes` of, by what its result becomes and
  /// what is passed to it.
  TypePropagation::Allocated allocatedBy(uint64_t after, uint64_t bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cacheline::inference
