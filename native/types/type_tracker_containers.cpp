// A member of a type can have one container in a function, else none is believed.
#include "types/type_tracker_containers.h"

#include <algorithm>

#include "types/field_path.h"
#include "types/type_tracker_pointers.h"

namespace cacheline::types {

bool isField(const TypeTable& table, TypeId type, uint64_t offset, uint32_t width) {
  const auto fields = fieldsAt(table, type, offset, width);
  return std::any_of(fields.begin(), fields.end(),
                     [&](const FieldPath& field) { return field.offset == offset && field.size == width; });
}

bool leadsBehind(const TypeTable& table, const Held& address) {
  if (address.kind != Held::Kind::pointer || address.stride != 0 || address.offset < 0) return false;
  const auto size = table.sizeOf(address.type);
  const auto offset = static_cast<uint64_t>(address.offset);
  return size && *size != 0 && offset >= *size && fieldsAt(table, address.type, offset, 1).empty();
}

void Containers::learn(const Held& before, const Held& stated) {
  if (before.kind != Held::Kind::pointer || before.stride != 0 || before.offset >= 0) return;
  const Container found{stated.type, static_cast<uint64_t>(stated.offset - before.offset)};
  const auto fields = fieldsAt(table_, found.type, found.offset, 1);
  const bool isMember = std::any_of(fields.begin(), fields.end(), [&](const FieldPath& field) {
    return std::any_of(field.around.begin(), field.around.end(), [&](const InnerObject& object) {
      return object.offset == found.offset && isSame(table_, object.type, before.type);
    });
  });
  if (!isMember) return;
  const auto [known, isNew] = known_.try_emplace(before.type, found);
  if (!isNew && known->second != found) known->second.type = kNoType;
}

Held Containers::of(const Held& address) const {
  const bool ahead = address.kind == Held::Kind::pointer && address.stride == 0 && address.offset < 0;
  if (!ahead && !leadsBehind(table_, address)) return address;
  const auto known = known_.find(address.type);
  if (known == known_.end() || known->second.type == kNoType) return address;
  return {Held::Kind::pointer, 0, known->second.type,
          address.offset + static_cast<int64_t>(known->second.offset)};
}

}  // namespace cacheline::types
