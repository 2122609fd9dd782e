// The members of all types, the other way around.
#include "layouts/enclosing_types.h"

#include <algorithm>

#include "types/field_path.h"
#include "types/pointers.h"
#include "types/type_reader.h"

namespace cacheline::layouts {

using types::kNoType;
using types::TypeId;
using types::TypeTable;

namespace {

constexpr int kMostLevels = 16;           // of types around one another
constexpr size_t kMostClimbed = 1 << 14;  // enclosing types looked at for one question
constexpr size_t kMostMembers = 1 << 19;  // of all types; unnamed structures can be made to multiply them
constexpr uint64_t kLargestLink = 64;     // bytes

/// What an array of one element, or of as many as were allocated, is of; else the type itself.
TypeId onlyElement(const TypeTable& table, TypeId type) {
  const TypeId stripped = table.strip(type);
  if (stripped == kNoType || table.kind(stripped) != types::Kind::array) return stripped;
  const auto& dimensions = table[stripped].dimensions;
  const bool one = std::all_of(dimensions.begin(), dimensions.end(),
                               [](const auto& length) { return length.value_or(0) <= 1; });
  return one ? table.strip(table[stripped].target) : kNoType;
}

}  // namespace

bool isLink(const TypeTable& table, TypeId type) {
  const uint64_t size = table.sizeOf(type).value_or(0);
  if (size == 0 || size > kLargestLink) return false;
  uint64_t links = 0;
  for (uint64_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
    TypeId pointee = types::pointeeAt(table, type, at);
    if (pointee != kNoType && table.pointee(pointee) != kNoType) pointee = table.pointee(pointee);
    if (types::isSame(table, pointee, table.strip(type))) links += sizeof(uint64_t);
  }
  return links * 2 > size;
}

/// Members repeat a type in each unit: it is known by name and size.
std::string EnclosingTypes::keyOf(TypeId type) const {
  return table_[type].name + '\n' + std::to_string(table_.sizeOf(type).value_or(0));
}

void EnclosingTypes::add(TypeId type) {
  addMembers(type, type, 0, 0);
}

void EnclosingTypes::addMembers(TypeId outer, TypeId inner, uint64_t offset, int depth) {
  if (depth > kMostLevels) return leaveOpen();
  for (const types::Member& member : table_[inner].members) {
    if (++members_ > kMostMembers) return leaveOpen();
    if (!member.located) continue;
    const TypeId part = onlyElement(table_, member.type);
    if (part == kNoType) addArray(member.type);
    if (part == kNoType || !types::isAggregate(table_.kind(part))) continue;
    if (table_[part].name.empty()) {
      addMembers(outer, part, offset + member.offset, depth + 1);
      continue;
    }
    enclosing_[keyOf(part)].push_back({outer, offset + member.offset});
  }
}

void EnclosingTypes::addArray(TypeId type) {
  const TypeId stripped = table_.strip(type);
  if (stripped == kNoType || table_.kind(stripped) != types::Kind::array) return;
  const TypeId element = table_.strip(table_[stripped].target);
  if (element == kNoType || !types::isAggregate(table_.kind(element))) return;
  uint64_t count = 1;
  for (const auto& length : table_[stripped].dimensions)
    if (__builtin_mul_overflow(count, length.value_or(0), &count)) count = UINT64_MAX;
  uint64_t& longest = arrays_[keyOf(element)];
  longest = std::max(longest, count);
}

/// From an object to those that contain it, until one holds the accessed byte.
struct EnclosingTypes::Climb {
  const EnclosingTypes& all;
  const TypeTable& table;
  TypeId part;
  uint64_t inPart;  ///< of the byte, if it were in another such part
  bool link;
  uint32_t width;
  Surroundings found;
  size_t steps = 0;

  /// `at`: of the byte, from the start of `inner`. `begin`: of the part, from there.
  void from(TypeId inner, int64_t at, uint64_t begin, int depth) {
    const auto enclosingTypes = all.enclosing_.find(all.keyOf(inner));
    if (enclosingTypes == all.enclosing_.end()) return;
    for (const Enclosing& enclosing : enclosingTypes->second) {
      if (depth > kMostLevels || ++steps > kMostClimbed) {
        found.all = false;
        return;
      }
      const int64_t there = at + static_cast<int64_t>(enclosing.offset);
      const uint64_t partBegin = begin + enclosing.offset;
      const bool inside =
          there >= 0 && !types::fieldsAt(table, enclosing.type, static_cast<uint64_t>(there), 1).empty();
      if (inside || (there >= 0 && static_cast<uint64_t>(there) < table.sizeOf(enclosing.type).value_or(0)))
        take({enclosing.type, partBegin}, static_cast<uint64_t>(there));
      else
        from(enclosing.type, there, partBegin, depth + 1);
    }
  }

  void take(const Enclosing& enclosing, uint64_t there) {
    if (!link && there >= inPart && types::contains(table, enclosing.type, there - inPart, part)) return;
    if (!types::isField(table, enclosing.type, there, width)) {
      found.others |= !types::fieldsAt(table, enclosing.type, there, width).empty();
      return;
    }
    const bool known = std::any_of(found.members.begin(), found.members.end(), [&](const Enclosing& other) {
      return other.offset == enclosing.offset && types::isSame(table, other.type, enclosing.type);
    });
    if (!known) found.members.push_back(enclosing);
  }
};

Surroundings EnclosingTypes::around(TypeId part, int64_t away, uint32_t width) const {
  const TypeId stripped = table_.strip(part);
  const auto size = static_cast<int64_t>(table_.sizeOf(part).value_or(0));
  if (stripped == kNoType || size <= 0) return {{}, false, all_, 0};
  const auto inPart = static_cast<uint64_t>((away % size + size) % size);
  Climb climb{*this, table_, stripped, inPart, isLink(table_, stripped), width, {{}, false, all_, 0}};
  climb.from(stripped, away, 0, 0);
  if (const auto array = arrays_.find(keyOf(stripped)); array != arrays_.end())
    climb.found.elements = array->second;
  return std::move(climb.found);
}

}  // namespace cacheline::layouts
