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

Held moved(Held held, int64_t by) {
  int64_t& to = held.kind != Held::Kind::unknown ? held.offset : held.added;
  to = static_cast<int64_t>(static_cast<uint64_t>(to) + static_cast<uint64_t>(by));
  return held;
}

Held scaled(const Held& held, uint64_t by) {
  if (by == 1 && held.kind != Held::Kind::unknown) return held;
  if (held.isOpen()) {
    const int64_t added = held.kind == Held::Kind::unknown ? held.added : held.offset;
    return {Held::Kind::constant, by, kNoType, static_cast<int64_t>(static_cast<uint64_t>(added) * by)};
  }
  if (held.kind != Held::Kind::constant) return {};
  return {Held::Kind::constant, held.stride * by, kNoType,
          static_cast<int64_t>(static_cast<uint64_t>(held.offset) * by)};
}

Held sum(const Held& a, const Held& b) {
  const auto isAddress = [](const Held& held) {
    return held.kind != Held::Kind::unknown && held.kind != Held::Kind::entry &&
           held.kind != Held::Kind::constant;
  };
  if (a.kind == Held::Kind::threadDistance && b.kind == Held::Kind::threadPointer) return sum(b, a);
  if (a.kind == Held::Kind::threadPointer && b.kind == Held::Kind::threadDistance)
    return moved({Held::Kind::threadLocal, std::gcd(a.stride, b.stride), kNoType, b.offset}, a.offset);
  // An argument is an address where the other one is none.
  const bool second = isAddress(b) || (b.kind == Held::Kind::entry && !isAddress(a));
  const Held &address = second ? b : a, &number = second ? a : b;
  if (isAddress(number) || (address.kind == Held::Kind::entry && number.kind == Held::Kind::entry)) return {};
  Held result = moved(address, number.kind == Held::Kind::unknown ? number.added : number.offset);
  if (address.kind == Held::Kind::unknown) return {};
  // What is not known may be the distance to any variable, of any file.
  if (address.kind == Held::Kind::threadPointer && number.isOpen()) return {};
  result.stride = std::gcd(address.stride, number.kind == Held::Kind::constant ? number.stride : 1);
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
  const auto apart = static_cast<uint64_t>(a.offset) - static_cast<uint64_t>(b.offset);
  result.stride = std::gcd(std::gcd(a.stride, b.stride), static_cast<int64_t>(apart) < 0 ? 0 - apart : apart);
  if (a.kind != Held::Kind::pointer) return result;
  const auto inside = within(table, a.type, a.offset, result.stride);
  const auto size = table.sizeOf(a.type);
  if (!inside || !size || *size == 0) return {};
  if (inside->inside || result.stride == 1) return result;
  // Two members of one object, not one of many; unless the distance is that of elements of an array in it,
  // which what is added later brings the address into.
  const bool indexed = a.stride != 0 && b.stride != 0;
  if (result.stride % *size != 0) return hasArrayOf(table, a.type, result.stride, indexed) ? result : Held{};
  result.offset = static_cast<int64_t>(inside->offset);
  return result;
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
