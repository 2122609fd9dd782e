// Fields by offset and width.
#include "types/type_propagation_containers.h"

#include <algorithm>

#include "types/field_path.h"
#include "types/type_propagation_pointers.h"

namespace cacheline::types {

bool isField(const TypeTable& table, TypeId type, uint64_t offset, uint32_t width) {
  const auto fields = fieldsAt(table, type, offset, width);
  return std::any_of(fields.begin(), fields.end(),
                     [&](const FieldPath& field) { return field.offset == offset && field.size == width; });
}

bool leadsBehind(const TypeTable& table, const AbstractValue& address) {
  if (address.kind != AbstractValue::Kind::pointer || address.stride != 0 || address.offset < 0) return false;
  const auto size = table.sizeOf(address.type);
  const auto offset = static_cast<uint64_t>(address.offset);
  return size && *size != 0 && offset >= *size && fieldsAt(table, address.type, offset, 1).empty();
}

}  // namespace cacheline::types
