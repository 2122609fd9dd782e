// What registers and stack slots are known to hold at one point of a function, and how two ways to it join.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/registers.h"
#include "types/type_table.h"

namespace cacheline::inference {

/// What a register or stack slot is known to hold.
struct AbstractValue {
  enum class Kind : uint8_t {
    unknown,         ///< some value, plus `offset`
    pointer,         ///< the address of an object of `type`, plus `offset`
    frame,           ///< the call frame address plus `offset`
    entry,           ///< what register `type` held when the function began, plus `offset`
    constant,        ///< `offset` itself, an ELF address or a number
    threadPointer,   ///< the base of fs plus `offset`
    threadDistance,  ///< from there to byte `offset` of the file's thread-local block
    threadLocal      ///< the address of that byte
  };
  Kind kind = Kind::unknown;
  /// Not 0: plus some multiple of this many bytes; 1: of an unknown size.
  uint64_t stride = 0;
  types::TypeId type = types::kNoType;
  int64_t offset = 0;
  /// Of which value, where it is unknown or a constant with a stride: the same wherever it stands. 0: nobody
  /// knows.
  int64_t identity = 0;
  /// Of a pointer: which one of the source it is, to which `offset` and multiples of `stride` were added: the
  /// ELF address of the word of a variable with static storage that it was loaded from, or the number of a
  /// member or a function's variable (pointer_names.h); 0: not known.
  uint64_t origin = 0;
  bool operator==(const AbstractValue&) const = default;
  /// Nothing is known of what it points to, yet.
  bool isOpen() const { return kind == Kind::unknown || kind == Kind::entry; }
};

struct PropagationState {
  bool reached = false;
  std::array<AbstractValue, kRegCount> registers{};
  /// 8-byte stack slots by their offset from the call frame address; none is unknown.
  std::vector<std::pair<int64_t, AbstractValue>> slots;

  const AbstractValue* slotAt(int64_t offset) const;
  void forget(int64_t offset, uint64_t width);  ///< the slots that a write touches
  void forgetIdentity(int64_t identity);        ///< that another round of a loop had
  /// Joins another way to this point in. True: something changed.
  bool join(const types::TypeTable& table, const PropagationState& other);
};

inline constexpr AbstractValue kZero{AbstractValue::Kind::constant, 0, types::kNoType, 0};
inline constexpr AbstractValue kThreadPointer{AbstractValue::Kind::threadPointer, 0, types::kNoType, 0};
/// The same, `by` bytes further on.
AbstractValue moved(AbstractValue value, int64_t by);
/// A number times a constant; of an unknown one the step is known at least.
AbstractValue scaled(const AbstractValue& value, uint64_t by);
/// An address and a number, or two numbers.
AbstractValue sum(const AbstractValue& a, const AbstractValue& b);
AbstractValue difference(const AbstractValue& a, const AbstractValue& b);
/// What holds where one way brings `a` and the other `b`.
AbstractValue joined(const types::TypeTable& table, const AbstractValue& a, const AbstractValue& b);

}  // namespace cacheline::inference
