// The registers and stack slots at one point of a function, and how two ways to it join.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/registers.h"
#include "types/type_tracker.h"

namespace cacheline::types {

struct TrackerState {
  bool reached = false;
  std::array<Held, kRegCount> registers{};
  /// 8-byte stack slots by their offset from the call frame address; none is unknown.
  std::vector<std::pair<int64_t, Held>> slots;

  const Held* slotAt(int64_t offset) const;
  void forget(int64_t offset, uint64_t width);  ///< the slots that a write touches
  void forgetValue(int64_t value);              ///< that another round of a loop had
  /// Joins another way to this point in. True: something changed.
  bool join(const TypeTable& table, const TrackerState& other);
};

inline constexpr Held kZero{Held::Kind::constant, 0, kNoType, 0};
inline constexpr Held kThreadPointer{Held::Kind::threadPointer, 0, kNoType, 0};
/// The same, `by` bytes further on.
Held moved(Held held, int64_t by);
/// A number times a constant; of an unknown one the step is known at least.
Held scaled(const Held& held, uint64_t by);
/// An address and a number, or two numbers.
Held sum(const Held& a, const Held& b);
Held difference(const Held& a, const Held& b);
/// What holds where one way brings `a` and the other `b`.
Held joined(const TypeTable& table, const Held& a, const Held& b);

}  // namespace cacheline::types
