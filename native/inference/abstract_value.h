// The registers and stack slots at one point of a function, and how two ways to it join.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/registers.h"
#include "inference/type_propagation.h"

namespace cacheline::inference {

struct PropagationState {
  bool reached = false;
  std::array<AbstractValue, kRegCount> registers{};
  /// 8-byte stack slots by their offset from the call frame address; none is unknown.
  std::vector<std::pair<int64_t, AbstractValue>> slots;

  const AbstractValue* slotAt(int64_t offset) const;
  void forget(int64_t offset, uint64_t width);  ///< the slots that a write touches
  void forgetValue(int64_t value);              ///< that another round of a loop had
  /// Joins another way to this point in. True: something changed.
  bool join(const types::TypeTable& table, const PropagationState& other);
};

inline constexpr AbstractValue kZero{AbstractValue::Kind::constant, 0, types::kNoType, 0};
inline constexpr AbstractValue kThreadPointer{AbstractValue::Kind::threadPointer, 0, types::kNoType, 0};
/// The same, `by` bytes further on.
AbstractValue moved(AbstractValue held, int64_t by);
/// A number times a constant; of an unknown one the step is known at least.
AbstractValue scaled(const AbstractValue& held, uint64_t by);
/// An address and a number, or two numbers.
AbstractValue sum(const AbstractValue& a, const AbstractValue& b);
AbstractValue difference(const AbstractValue& a, const AbstractValue& b);
/// What holds where one way brings `a` and the other `b`.
AbstractValue joined(const types::TypeTable& table, const AbstractValue& a, const AbstractValue& b);

}  // namespace cacheline::inference
