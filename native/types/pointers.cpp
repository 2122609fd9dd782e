// Descends into types, within bounds: DWARF may nest as it likes.
#include "types/pointers.h"

#include <algorithm>
#include <string_view>

#include "types/field_path.h"
#include "types/type_reader.h"

namespace cacheline::types {
namespace {

bool isPointer(Kind kind) {
  return kind == Kind::pointer || kind == Kind::reference || kind == Kind::rvalueReference;
}

/// One question about what is inside of a type. Members that lie on each other multiply: it ends after some
/// steps.
class Search {
 public:
  explicit Search(const TypeTable& table) : table_(table) {}

  TypeId pointee(TypeId object, uint64_t offset, int depth = 0) {
    const TypeId id = entered(object, depth);
    if (id == kNoType) return kNoType;
    const Type& type = table_[id];
    if (isPointer(type.kind)) return offset == 0 ? table_.pointee(id) : kNoType;
    if (type.kind == Kind::array) {
      const auto size = table_.sizeOf(type.target);
      if (!size || *size == 0) return kNoType;
      return pointee(type.target, offset % *size, depth + 1);
    }
    if (!isAggregate(type.kind)) return kNoType;
    for (const Member& member : type.members) {
      if (offset < member.offset || member.bitSize != 0) continue;
      if (member.size != 0 && offset - member.offset >= member.size) continue;
      const TypeId found = pointee(member.type, offset - member.offset, depth + 1);
      if (found == kNoType) continue;
      // Rust's Vec keeps its elements behind a pointer to bytes.
      if (!type.name.starts_with("alloc::raw_vec::RawVec<") || table_.sizeOf(found) != 1) return found;
      const TypeId element = table_.firstArgument(id);
      return element != kNoType ? element : found;
    }
    return kNoType;
  }

  /// The array inside of `object` with elements `stride` apart that the byte at `offset` lies in. nullopt:
  /// none.
  std::optional<ArrayPart> arrayAt(TypeId object, uint64_t offset, uint64_t stride, int depth = 0) {
    const TypeId id = entered(object, depth);
    if (id == kNoType) return std::nullopt;
    const Type& type = table_[id];
    if (type.kind == Kind::array) {
      const uint64_t element = table_.sizeOf(type.target).value_or(0), size = table_.sizeOf(id).value_or(0);
      if (element == 0 || (size != 0 && (offset >= size || stride >= size))) return std::nullopt;
      if (stride % element != 0) {
        auto inner = arrayAt(type.target, offset % element, stride, depth + 1);
        if (inner) inner->begin += offset / element * element;
        return inner;
      }
      return ArrayPart{table_.strip(type.target), 0, offset % element};
    }
    if (!isAggregate(type.kind)) return std::nullopt;
    for (const Member& member : type.members) {
      if (offset < member.offset || (member.size != 0 && offset - member.offset >= member.size)) continue;
      auto found = arrayAt(member.type, offset - member.offset, stride, depth + 1);
      if (!found) continue;
      found->begin += member.offset;
      return found;
    }
    return std::nullopt;
  }

  bool hasArray(TypeId object, uint64_t stride, int depth = 0) {
    const TypeId id = entered(object, depth);
    if (id == kNoType) return false;
    const Type& type = table_[id];
    if (type.kind == Kind::array) {
      const uint64_t element = table_.sizeOf(type.target).value_or(0);
      return element != 0 && (stride % element == 0 || hasArray(type.target, stride, depth + 1));
    }
    return isAggregate(type.kind) &&
           std::any_of(type.members.begin(), type.members.end(), [&](const Member& member) {
             return member.size > stride && hasArray(member.type, stride, depth + 1);
           });
  }

 private:
  static constexpr int kDeepest = 24;
  static constexpr size_t kMostSteps = 1 << 12;

  TypeId entered(TypeId object, int depth) {
    return depth < kDeepest && ++steps_ <= kMostSteps ? table_.strip(object) : kNoType;
  }

  const TypeTable& table_;
  size_t steps_ = 0;
};

bool isPolymorphic(const Type& type) {
  return std::any_of(type.members.begin(), type.members.end(),
                     [](const Member& member) { return member.role == Member::Role::vtablePointer; });
}

}  // namespace

bool isSame(const TypeTable& table, TypeId a, TypeId b) {
  if (a == b) return true;
  if (a == kNoType || b == kNoType) return false;
  return !table[a].name.empty() && table[a].name == table[b].name && table.sizeOf(a) == table.sizeOf(b);
}

TypeId pointeeAt(const TypeTable& table, TypeId object, uint64_t offset) {
  return Search(table).pointee(object, offset);
}

TypeId nodeOf(const TypeTable& table, TypeId iterator) {
  const TypeId id = table.strip(iterator);
  if (!isAggregate(table.kind(id))) return kNoType;
  const std::string_view name = table[id].name;
  if (name.starts_with("std::_List_iterator<") || name.starts_with("std::_List_const_iterator<"))
    return table.aliasIn(id, "_Node");
  if (name.starts_with("std::_Rb_tree_iterator<") || name.starts_with("std::_Rb_tree_const_iterator<"))
    return table.pointee(table.aliasIn(id, "_Link_type"));
  return kNoType;
}

bool hasArrayOf(const TypeTable& table, TypeId type, uint64_t stride) {
  return Search(table).hasArray(type, stride);
}

std::optional<Within> within(const TypeTable& table, TypeId type, int64_t offset, uint64_t stride) {
  const TypeId id = table.strip(type);
  const auto size = table.sizeOf(type);
  if (id == kNoType || (size && *size > INT64_MAX)) return std::nullopt;
  const Type& description = table[id];
  if (!size) {  // of an array without a stated length
    const auto array = description.kind == Kind::array && offset >= 0 && stride != 0
                           ? Search(table).arrayAt(id, static_cast<uint64_t>(offset), stride)
                           : std::nullopt;
    return array ? std::optional(Within{static_cast<uint64_t>(offset), true, *array}) : std::nullopt;
  }
  const bool aggregate = isAggregate(description.kind);
  const auto whole = static_cast<int64_t>(*size);
  const bool inTail = aggregate && offset >= whole && endsInFlexibleArray(table, id);
  if (inTail && stride == 0) return Within{static_cast<uint64_t>(offset), false, {}};
  // Some elements of the array that it begins in, if it is one with such a step: else only the offset modulo
  // the step is known.
  if (inTail || (whole != 0 && stride % *size != 0)) {
    if (offset < 0) return std::nullopt;
    if (!inTail) offset %= whole;
    const auto array = Search(table).arrayAt(id, static_cast<uint64_t>(offset), stride);
    return array ? std::optional(Within{static_cast<uint64_t>(offset), true, *array}) : std::nullopt;
  }
  if (offset < 0 || offset >= whole) {
    // A constant beyond the object: the neighbour in an array, unless a derived class is likelier. Before it:
    // what contains the object, unless elements are counted.
    if (whole == 0 || (stride == 0 && (offset < 0 || (aggregate && isPolymorphic(description)))))
      return std::nullopt;
    offset = (offset % whole + whole) % whole;
    if (stride == 0) stride = *size;
  }
  return Within{static_cast<uint64_t>(offset), stride != 0, {}};
}

}  // namespace cacheline::types
