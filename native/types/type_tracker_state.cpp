// Joins keep what both ways agree in.
#include "types/type_tracker_state.h"

#include <algorithm>
#include <numeric>

#include "types/type_tracker_pointers.h"

namespace cacheline::types {

const Held* TrackerState::slotAt(int64_t offset) const {
  for (const auto& [at, held] : slots)
    if (at == offset) return &held;
  return nullptr;
}

void TrackerState::forget(int64_t offset, uint64_t width) {
  constexpr uint64_t kSlot = 8;
  std::erase_if(slots, [&](const auto& slot) {
    const auto ahead = static_cast<uint64_t>(slot.first) - static_cast<uint64_t>(offset);
    return ahead < width || 0 - ahead < kSlot;
  });
}

void TrackerState::forgetValue(int64_t value) {
  const auto forgetIn = [value](Held& held) {
    if (held.value == value) held.value = 0;
  };
  for (Held& held : registers) forgetIn(held);
  for (auto& slot : slots) forgetIn(slot.second);
}

namespace {

/// The values of arguments: this plus the register.
constexpr int64_t kArgumentValues = -1 - int64_t{kRegCount};

/// `times` some value plus `offset`, all of them modulo 2^64.
struct Number {
  int64_t value = 0;  ///< as Held::value
  uint64_t times = 0, offset = 0;

  explicit Number(const Held& held)
      : value(held.kind != Held::Kind::entry ? held.value
              : held.stride == 0             ? kArgumentValues + static_cast<int64_t>(held.type)
                                             : 0),
        times(held.isOpen() ? 1 : held.stride),
        offset(static_cast<uint64_t>(held.offset)) {}
  /// Other than 0, the same value.
  bool isOf(const Number& other) const { return value != 0 && value == other.value; }
  void scale(uint64_t by) {
    times *= by;
    offset *= by;
  }
  void add(const Number& other) {
    times += other.times;
    offset += other.offset;
  }
  /// The sign does not matter to a stride.
  operator Held() const {
    const bool negative = static_cast<int64_t>(times) < 0;
    return {Held::Kind::constant, negative ? 0 - times : times, kNoType, static_cast<int64_t>(offset),
            negative ? 0 : value};
  }
};

bool isAddress(const Held& held) {
  return !held.isOpen() && held.kind != Held::Kind::constant;
}

}  // namespace

Held moved(Held held, int64_t by) {
  held.offset = static_cast<int64_t>(static_cast<uint64_t>(held.offset) + static_cast<uint64_t>(by));
  return held;
}

Held scaled(const Held& held, uint64_t by) {
  if (by == 1 && held.kind != Held::Kind::unknown) return held;
  if (isAddress(held)) return {};
  Number number(held);
  number.scale(by);
  return number;
}

Held difference(const Held& a, const Held& b) {
  if (isAddress(b)) return {};
  Number number(b);
  number.scale(~uint64_t{0});
  if (!isAddress(a) && number.isOf(Number(a))) {
    number.add(Number(a));
    return number;
  }
  return sum(a, number);
}

Held sum(const Held& a, const Held& b) {
  if (a.kind == Held::Kind::threadDistance && b.kind == Held::Kind::threadPointer) return sum(b, a);
  if (a.kind == Held::Kind::threadPointer && b.kind == Held::Kind::threadDistance)
    return moved({Held::Kind::threadLocal, std::gcd(a.stride, b.stride), kNoType, b.offset}, a.offset);
  if (!isAddress(a) && !isAddress(b) && Number(a).isOf(Number(b))) {
    Number number(a);
    number.add(Number(b));
    return number;
  }
  // An argument is an address where the other one is none.
  const bool second = isAddress(b) || (b.kind == Held::Kind::entry && !isAddress(a));
  const Held &address = second ? b : a, &number = second ? a : b;
  if (isAddress(number) || (address.kind == Held::Kind::entry && number.kind == Held::Kind::entry)) return {};
  Held result = moved(address, number.offset);
  if (address.kind == Held::Kind::unknown) return {};
  // What is not known may be the distance to any variable, of any file.
  if (address.kind == Held::Kind::threadPointer && number.isOpen()) return {};
  const uint64_t step = Number(number).times;
  if (result.kind == Held::Kind::constant && step != 0) result.value = result.stride == 0 ? number.value : 0;
  result.stride = std::gcd(address.stride, step);
  return result;
}

Held joined(const TypeTable& table, const Held& a, const Held& b) {
  if (a == b) return a;
  // One way brings a null pointer, as after a look-up that failed.
  const auto isNull = [](const Held& held) {
    return held.kind == Held::Kind::constant && held.offset == 0 && held.stride == 0;
  };
  if (isNull(a) && b.kind == Held::Kind::pointer) return b;
  if (isNull(b) && a.kind == Held::Kind::pointer) return a;
  if (a.kind != b.kind || a.kind == Held::Kind::unknown || a.type != b.type) return {};
  // A loop: some number of steps apart.
  Held result = a;
  result.value = 0;  // the values differ, or what was made of one
  if (a.origin != b.origin) result.origin = 0;
  const auto apart = static_cast<uint64_t>(a.offset) - static_cast<uint64_t>(b.offset);
  result.stride = std::gcd(std::gcd(a.stride, b.stride), static_cast<int64_t>(apart) < 0 ? 0 - apart : apart);
  if (a.kind != Held::Kind::pointer) return result;
  const auto there = within(table, a.type, a.offset, result.stride);
  // Two members of one object, not one of many; unless the distance is that of elements of an array in it,
  // which what is added later brings the address into.
  if (!there) return hasArrayOf(table, a.type, result.stride) ? result : Held{};
  if (!there->inside()) {
    result.offset = static_cast<int64_t>(there->offset);
    return result;
  }
  const auto other = within(table, b.type, b.offset, result.stride);
  return other && other->array.begin == there->array.begin ? result : Held{};
}

bool TrackerState::join(const TypeTable& table, const TrackerState& other) {
  if (!other.reached) return false;
  if (!reached) {
    *this = other;
    return true;
  }
  bool changed = false;
  for (size_t reg = 0; reg < registers.size(); reg++) {
    if (registers[reg] == other.registers[reg]) continue;
    const Held result = joined(table, registers[reg], other.registers[reg]);
    changed |= !(result == registers[reg]);
    registers[reg] = result;
  }
  if (slots == other.slots) return changed;
  std::vector<std::pair<int64_t, Held>> kept;
  for (const auto& [offset, held] : slots) {
    const Held* theirs = other.slotAt(offset);
    const Held result = theirs != nullptr ? joined(table, held, *theirs) : Held{};
    if (result.kind != Held::Kind::unknown) kept.emplace_back(offset, result);
  }
  changed |= kept != slots;
  slots = std::move(kept);
  return changed;
}

}  // namespace cacheline::types
