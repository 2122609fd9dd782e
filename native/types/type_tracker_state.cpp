// Joins keep what both ways agree in.
#include "types/type_tracker_state.h"

#include <algorithm>

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

Held joined(const TypeTable& table, const Held& a, const Held& b) {
  if (a == b) return a;
  // One way brings a null pointer, as after a look-up that failed.
  const auto isNull = [](const Held& held) {
    return held.kind == Held::Kind::constant && held.offset == 0 && !held.indexed;
  };
  if (isNull(a) && b.kind == Held::Kind::pointer) return b;
  if (isNull(b) && a.kind == Held::Kind::pointer) return a;
  if (a.kind != b.kind || a.kind == Held::Kind::unknown) return {};
  if (a.kind != Held::Kind::pointer) {
    Held result = a;
    result.indexed = true;
    return a.offset == b.offset ? result : Held{};
  }
  if (a.type != b.type) return {};
  // A loop over an array: whole elements apart.
  const auto size = table.sizeOf(a.type);
  const int64_t apart =
      static_cast<int64_t>(static_cast<uint64_t>(a.offset) - static_cast<uint64_t>(b.offset));
  if (!size || *size == 0 || *size > INT64_MAX || apart % static_cast<int64_t>(*size) != 0) return {};
  const auto inside = within(table, a.type, a.offset, true);
  if (!inside) return {};
  return {Held::Kind::pointer, true, a.type, static_cast<int64_t>(inside->offset)};
}

bool TrackerState::join(const TypeTable& table, const TrackerState& other) {
  if (!other.reached) return false;
  if (!reached) {
    *this = other;
    return true;
  }
  bool changed = false;
  for (size_t reg = 0; reg < registers.size(); reg++) {
    const Held result = joined(table, registers[reg], other.registers[reg]);
    changed |= !(result == registers[reg]);
    registers[reg] = result;
  }
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
