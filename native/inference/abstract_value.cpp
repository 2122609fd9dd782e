// Joins keep what both ways agree in.
#include "inference/abstract_value.h"

#include <algorithm>
#include <numeric>

#include "types/pointers.h"

namespace cacheline::inference {

const AbstractValue* PropagationState::slotAt(int64_t offset) const {
  for (const auto& [at, value] : slots)
    if (at == offset) return &value;
  return nullptr;
}

void PropagationState::forget(int64_t offset, uint64_t width) {
  constexpr uint64_t kSlot = 8;
  std::erase_if(slots, [&](const auto& slot) {
    const auto ahead = static_cast<uint64_t>(slot.first) - static_cast<uint64_t>(offset);
    return ahead < width || 0 - ahead < kSlot;
  });
}

void PropagationState::forgetIdentity(int64_t identity) {
  const auto forgetIn = [identity](AbstractValue& value) {
    if (value.identity == identity) value.identity = 0;
  };
  for (AbstractValue& value : registers) forgetIn(value);
  for (auto& slot : slots) forgetIn(slot.second);
}

namespace {

/// The values of arguments: this plus the register.
constexpr int64_t kArgumentValues = -1 - int64_t{kRegCount};

/// `times` some value plus `offset`, all of them modulo 2^64.
struct Number {
  int64_t identity = 0;  ///< as AbstractValue::identity
  uint64_t times = 0, offset = 0;

  explicit Number(const AbstractValue& value)
      : identity(value.kind != AbstractValue::Kind::entry ? value.identity
                 : value.stride == 0                      ? kArgumentValues + static_cast<int64_t>(value.type)
                                                          : 0),
        times(value.isOpen() ? 1 : value.stride),
        offset(static_cast<uint64_t>(value.offset)) {}
  /// Other than 0, the same value.
  bool isOf(const Number& other) const { return identity != 0 && identity == other.identity; }
  void scale(uint64_t by) {
    times *= by;
    offset *= by;
  }
  void add(const Number& other) {
    times += other.times;
    offset += other.offset;
  }
  /// The sign does not matter to a stride.
  operator AbstractValue() const {
    const bool negative = static_cast<int64_t>(times) < 0;
    return {AbstractValue::Kind::constant, negative ? 0 - times : times, types::kNoType,
            static_cast<int64_t>(offset), negative ? 0 : identity};
  }
};

bool isAddress(const AbstractValue& value) {
  return !value.isOpen() && value.kind != AbstractValue::Kind::constant;
}

}  // namespace

AbstractValue moved(AbstractValue value, int64_t by) {
  value.offset = static_cast<int64_t>(static_cast<uint64_t>(value.offset) + static_cast<uint64_t>(by));
  return value;
}

AbstractValue scaled(const AbstractValue& value, uint64_t by) {
  if (by == 1 && value.kind != AbstractValue::Kind::unknown) return value;
  // An index may be passed as a pointer.
  Number number(isAddress(value) ? AbstractValue{} : value);
  number.scale(by);
  return number;
}

AbstractValue difference(const AbstractValue& a, const AbstractValue& b) {
  if (isAddress(b)) return {};
  Number number(b);
  number.scale(~uint64_t{0});
  if (!isAddress(a) && number.isOf(Number(a))) {
    number.add(Number(a));
    return number;
  }
  return sum(a, number);
}

AbstractValue sum(const AbstractValue& a, const AbstractValue& b) {
  if (a.kind == AbstractValue::Kind::threadDistance && b.kind == AbstractValue::Kind::threadPointer)
    return sum(b, a);
  if (a.kind == AbstractValue::Kind::threadPointer && b.kind == AbstractValue::Kind::threadDistance)
    return moved({AbstractValue::Kind::threadLocal, std::gcd(a.stride, b.stride), types::kNoType, b.offset},
                 a.offset);
  if (!isAddress(a) && !isAddress(b) && Number(a).isOf(Number(b))) {
    Number number(a);
    number.add(Number(b));
    return number;
  }
  // An argument is an address where the other one is none.
  const bool second = isAddress(b) || (b.kind == AbstractValue::Kind::entry && !isAddress(a));
  const AbstractValue &address = second ? b : a, &number = second ? a : b;
  if (isAddress(number) ||
      (address.kind == AbstractValue::Kind::entry && number.kind == AbstractValue::Kind::entry))
    return {};
  AbstractValue result = moved(address, number.offset);
  if (address.kind == AbstractValue::Kind::unknown) return {};
  // What is not known may be the distance to any variable, of any file.
  if (address.kind == AbstractValue::Kind::threadPointer && number.isOpen()) return {};
  const uint64_t step = Number(number).times;
  if (result.kind == AbstractValue::Kind::constant && step != 0)
    result.identity = result.stride == 0 ? number.identity : 0;
  result.stride = std::gcd(address.stride, step);
  return result;
}

AbstractValue joined(const types::TypeTable& table, const AbstractValue& a, const AbstractValue& b) {
  if (a == b) return a;
  // One way brings a null pointer, as after a look-up that failed.
  const auto isNull = [](const AbstractValue& value) {
    return value.kind == AbstractValue::Kind::constant && value.offset == 0 && value.stride == 0;
  };
  if (isNull(a) && b.kind == AbstractValue::Kind::pointer) return b;
  if (isNull(b) && a.kind == AbstractValue::Kind::pointer) return a;
  if (a.kind != b.kind || a.kind == AbstractValue::Kind::unknown || a.type != b.type) return {};
  // A loop: some number of steps apart.
  AbstractValue result = a;
  result.identity = 0;  // the values differ, or what was made of one
  if (a.origin != b.origin) result.origin = 0;
  const auto apart = static_cast<uint64_t>(a.offset) - static_cast<uint64_t>(b.offset);
  result.stride = std::gcd(std::gcd(a.stride, b.stride), static_cast<int64_t>(apart) < 0 ? 0 - apart : apart);
  if (a.kind != AbstractValue::Kind::pointer) return result;
  const auto there = types::within(table, a.type, a.offset, result.stride);
  // Two members of one object, not one of many; unless the distance is that of elements of an array in it,
  // which what is added later brings the address into.
  if (!there) return types::hasArrayOf(table, a.type, result.stride) ? result : AbstractValue{};
  if (!there->inside()) {
    result.offset = static_cast<int64_t>(there->offset);
    return result;
  }
  const auto other = types::within(table, b.type, b.offset, result.stride);
  return other && other->array.begin == there->array.begin ? result : AbstractValue{};
}

bool PropagationState::join(const types::TypeTable& table, const PropagationState& other) {
  if (!other.reached) return false;
  if (!reached) {
    *this = other;
    return true;
  }
  bool changed = false;
  for (size_t reg = 0; reg < registers.size(); reg++) {
    if (registers[reg] == other.registers[reg]) continue;
    const AbstractValue result = joined(table, registers[reg], other.registers[reg]);
    changed |= !(result == registers[reg]);
    registers[reg] = result;
  }
  if (slots == other.slots) return changed;
  std::vector<std::pair<int64_t, AbstractValue>> kept;
  for (const auto& [offset, value] : slots) {
    const AbstractValue* theirs = other.slotAt(offset);
    const AbstractValue result = theirs != nullptr ? joined(table, value, *theirs) : AbstractValue{};
    if (result.kind != AbstractValue::Kind::unknown) kept.emplace_back(offset, result);
  }
  changed |= kept != slots;
  slots = std::move(kept);
  return changed;
}

}  // namespace cacheline::inference
