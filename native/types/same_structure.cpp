// Structures of two binaries, compared member by member.
#include "types/same_structure.h"

#include <algorithm>

namespace cacheline::types {

namespace {

constexpr size_t kMostSteps = 10000;  // nested unions have exponentially many members

bool isStructure(Kind kind) {
  return kind == Kind::structure || kind == Kind::classType || kind == Kind::unionType;
}

struct Counterpart {
  bool in(TypeId outer, uint64_t offset, int depth) {
    outer = table.strip(outer);
    if (outer == kNoType || depth > kDeepestNesting || ++steps > kMostSteps) return false;
    const Type& type = table[outer];
    if (offset == 0 && is(type)) return true;
    if (type.kind == Kind::array) {
      const uint64_t element = table.sizeOf(type.target).value_or(0);
      return element != 0 && in(type.target, offset % element, depth + 1);
    }
    return std::any_of(type.members.begin(), type.members.end(), [&](const Member& member) {
      return offset >= member.offset && offset - member.offset < member.size &&
             in(member.type, offset - member.offset, depth + 1);
    });
  }

  bool is(const Type& type) const {
    return type.kind == inner.kind && type.size == inner.size &&
           std::equal(type.members.begin(), type.members.end(), inner.members.begin(), inner.members.end(),
                      [](const Member& a, const Member& b) {
                        return a.name == b.name && a.offset == b.offset && a.size == b.size;
                      });
  }

  const TypeTable& table;
  const Type& inner;
  size_t steps = 0;
};

}  // namespace

bool containsSame(const TypeTable& table, TypeId outer, uint64_t offset, const TypeTable& others,
                  TypeId inner) {
  inner = others.strip(inner);
  if (inner == kNoType) return false;
  const Type& structure = others[inner];
  if (!isStructure(structure.kind) || structure.members.empty()) return false;
  return Counterpart{table, structure}.in(outer, offset, 0);
}

}  // namespace cacheline::types
