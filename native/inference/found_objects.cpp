// Which of the objects found at one address are told. Few are found: everything is compared with everything.
#include "inference/found_objects.h"

#include <algorithm>

#include "types/field_path.h"
#include "types/pointers.h"
#include "types/type_reader.h"

namespace cacheline::inference {

using types::kNoType;
using types::Member;
using types::TypeId;
using types::TypeTable;

namespace {

constexpr uint32_t kMostLayers = 64;
constexpr size_t kMostCasts = 16;  // of more nothing is said: each is compared with each

/// Whether `inner` is `outer`, one of an array of them, or a member of one.
bool holds(const TypeTable& table, const FoundObject& outer, const FoundObject& inner) {
  const uint64_t size = table.sizeOf(outer.type).value_or(0);
  if (inner.base < outer.base || size == 0) return false;
  const uint64_t ahead = inner.base - outer.base;
  return types::contains(table, outer.type, outer.array ? ahead % size : ahead, inner.type);
}

/// The instruction counts its address from it.
bool isGoal(const TypeTable& table, const FoundObject& one) {
  return one.direct && !one.isItself() && types::isAggregate(table.kind(table.strip(one.type)));
}

/// One of each that several variables have: they are compared with each other.
std::vector<FoundObject> goalsOf(const TypeTable& table, const std::vector<FoundObject>& found) {
  std::vector<FoundObject> goals;
  for (const FoundObject& one : found) {
    const auto isKnown = [&](const FoundObject& goal) {
      return goal.type == one.type && goal.base == one.base && goal.array == one.array &&
             goal.how == one.how && goal.isNamed() == one.isNamed();
    };
    if (isGoal(table, one) && std::ranges::none_of(goals, isKnown)) goals.push_back(one);
  }
  return goals;
}

/// Whether the bytes of the larger one are kept for whatever is put there, where the other one lies.
bool isBufferOf(const TypeTable& table, const FoundObject& larger, const FoundObject& smaller) {
  const auto isRaw = [&](uint64_t offset) {
    return std::ranges::any_of(
        types::fieldsAt(table, larger.type, offset, 1),
        [](const types::FieldPath& field) { return field.size == 1 && field.path.ends_with(']'); });
  };
  return isRaw(0) && isRaw(smaller.size - 1);
}

/// Whether the larger one has the other's members again, as structures do in C that extend another one.
bool extends(const TypeTable& table, const FoundObject& larger, const FoundObject& smaller) {
  const std::vector<Member>& members = table[table.strip(larger.type)].members;
  const std::vector<Member>& repeated = table[table.strip(smaller.type)].members;
  return !repeated.empty() && std::ranges::all_of(repeated, [&](const Member& one) {
    return one.role == Member::Role::field && std::ranges::any_of(members, [&](const Member& other) {
             return other.offset == one.offset && other.bitOffset == one.bitOffset &&
                    other.name == one.name && types::isSame(table, other.type, one.type);
           });
  });
}

/// Whether the smaller one is a way to look at a member: an atomic, a lock or a link over a plain word.
bool isViewOf(const TypeTable& table, const FoundObject& larger, const FoundObject& smaller) {
  TypeId inner = table.strip(smaller.type);
  for (uint32_t layer = 0; layer < kMostLayers && types::isAggregate(table.kind(inner)); layer++) {
    if (table[inner].members.size() != 1 || table[inner].members.front().size != smaller.size) return false;
    inner = table.strip(table[inner].members.front().type);
  }
  return !types::isAggregate(table.kind(inner)) &&
         types::isField(table, larger.type, 0, static_cast<uint32_t>(smaller.size));
}

/// Whether `one` is a part of the other, or lies over its start as one that is.
bool isInside(const TypeTable& table, const FoundObject& one, const FoundObject& other, uint64_t address) {
  if (types::isSame(table, one.type, other.type)) return false;
  if (isPartOf(table, other, one, address)) return true;
  return one.base == other.base && one.size != 0 && one.size <= other.size &&
         (extends(table, other, one) || isBufferOf(table, other, one) ||
          (one.size < other.size && isViewOf(table, other, one)));
}

/// Whether all bytes are members': which of them does not tell, as compilers read parts of members, and
/// several at once.
bool areMembers(const TypeTable& table, const FoundObject& one, uint64_t address, uint32_t width) {
  uint64_t ahead = address - one.base;
  if (one.array) ahead %= std::max<uint64_t>(table.sizeOf(one.type).value_or(0), 1);
  for (uint32_t byte = 0; byte < width; byte++)
    if (types::fieldsAt(table, one.type, ahead + byte, 1).empty()) return false;
  return true;
}

/// What variables take one pointer for, each inside of nothing else that they do: none, or several.
std::vector<FoundObject> rivalsAt(const TypeTable& table, const std::vector<FoundObject>& found,
                                  uint64_t address) {
  std::vector<FoundObject> casts = goalsOf(table, found);
  std::erase_if(casts, [](const FoundObject& one) { return !one.isNamed(); });
  if (casts.size() < 2 || casts.size() > kMostCasts) return {};
  const std::vector<FoundObject> all = casts;
  std::erase_if(casts, [&](const FoundObject& one) {
    return std::ranges::any_of(
        all, [&](const FoundObject& other) { return isInside(table, one, other, address); });
  });
  const auto areRivals = [&](const FoundObject& a, const FoundObject& b) {
    return a.base == b.base && !types::isSame(table, a.type, b.type);
  };
  const std::vector<FoundObject> outermost = casts;
  std::erase_if(casts, [&](const FoundObject& one) {
    return std::ranges::none_of(outermost, [&](const FoundObject& other) { return areRivals(one, other); });
  });
  if (!casts.empty())
    std::erase_if(casts, [base = casts.front().base](const FoundObject& one) { return one.base != base; });
  return casts;
}

}  // namespace

uint32_t layersOf(const TypeTable& table, TypeId type) {
  uint32_t layers = 0;
  for (type = table.strip(type); type != kNoType && layers < kMostLayers; layers++) {
    const types::Type& outer = table[type];
    TypeId inner = outer.kind == types::Kind::array ? outer.target : kNoType;
    for (const Member& member : outer.members)
      if (member.offset == 0 && member.bitSize == 0 && outer.size && member.size == *outer.size)
        inner = member.type;
    if (inner == kNoType || table.sizeOf(inner) != table.sizeOf(type)) break;
    type = table.strip(inner);
  }
  return layers;
}

bool isOuter(const TypeTable& table, const FoundObject& a, const FoundObject& b) {
  if (a.isItself() != b.isItself()) return a.isItself();
  if (a.size != b.size) return a.size > b.size;
  if (a.type != b.type) {
    const uint32_t layers = layersOf(table, a.type), others = layersOf(table, b.type);
    if (layers != others) return layers > others;
  }
  if (a.array != b.array) return a.array;
  return a.depth > b.depth;
}

bool isPartOf(const TypeTable& table, const FoundObject& node, const FoundObject& one, uint64_t address) {
  if (one.base < node.base || (one.size > node.size && !types::endsInFlexibleArray(table, node.type)))
    return false;
  if (holds(table, node, one)) return true;
  for (const types::FieldPath& path : types::fieldsAt(table, node.type, address - node.base, 1)) {
    for (const types::InnerObject& inner : path.around) {
      const uint64_t start = node.base + inner.offset;
      if (one.base >= start && !types::isSame(table, inner.type, one.type) &&
          types::contains(table, inner.type, one.base - start, one.type))
        return true;
    }
  }
  return false;
}

void dropStrangers(const TypeTable& table, std::vector<FoundObject>& found, uint64_t address) {
  const auto areRelated = [&](const FoundObject& a, const FoundObject& b) {
    return isPartOf(table, a, b, address) || isPartOf(table, b, a, address);
  };
  if (found.size() < 2) return;
  std::vector<FoundObject> goals = goalsOf(table, found);
  if (goals.empty()) return;
  const std::vector<FoundObject> all = goals;
  std::erase_if(goals, [&](const FoundObject& one) {  // those of the outermost alone
    return std::ranges::any_of(all, [&](const FoundObject& other) {
      return other.size > one.size && isPartOf(table, other, one, address);
    });
  });
  std::erase_if(found, [&](const FoundObject& one) {
    if (one.isItself() || (one.direct && one.isNamed())) return false;
    return std::ranges::none_of(goals, [&](const FoundObject& goal) { return areRelated(one, goal); }) ||
           (one.direct && std::ranges::any_of(goals, [&](const FoundObject& goal) {
              return goal.isNamed() && !areRelated(one, goal);
            }));
  });
  // A pointer to the member, and what is said to be around it: they agree.
  for (FoundObject& one : found)
    if (one.how == CodeObject::How::around && std::ranges::any_of(all, [&](const FoundObject& goal) {
          return goal.how == CodeObject::How::pointer && isPartOf(table, one, goal, address);
        }))
      one.how = CodeObject::How::propagated;
}

std::vector<TypeId> settleCasts(const TypeTable& table, std::vector<FoundObject>& found, uint64_t address,
                                uint32_t width) {
  std::vector<FoundObject> casts = rivalsAt(table, found, address);
  if (casts.empty()) return {};
  const uint64_t base = casts.front().base;
  const auto narrow = [&](const auto& fits) {
    if (std::ranges::any_of(casts, fits))
      std::erase_if(casts, [&](const FoundObject& one) { return !fits(one); });
  };
  for (const FoundObject& one : found) {
    const bool speaks = (one.isNamed() || one.isItself() || !one.direct) && one.base != base &&
                        one.how != CodeObject::How::around;
    if (speaks)
      narrow([&](const FoundObject& cast) {
        return isPartOf(table, cast, one, address) || isPartOf(table, one, cast, address);
      });
  }
  narrow([&](const FoundObject& cast) { return areMembers(table, cast, address, width); });

  std::vector<TypeId> between;
  for (const FoundObject& cast : casts)
    if (std::ranges::none_of(between, [&](TypeId one) { return types::isSame(table, one, cast.type); }))
      between.push_back(cast.type);
  const bool isSettled = between.size() == 1;
  std::erase_if(found, [&](const FoundObject& one) {
    if (one.base != base || one.isItself()) return false;
    return std::ranges::any_of(casts, [&](const FoundObject& cast) {
      if (isInside(table, one, cast, address)) return false;
      return !isSettled ||
             (!types::isSame(table, one.type, cast.type) && !isInside(table, cast, one, address));
    });
  });
  return isSettled ? std::vector<TypeId>{} : between;
}

}  // namespace cacheline::inference
