// Which of the objects found at one address are told. Few are found: everything is compared with everything.
#include "types/found_objects.h"

#include <algorithm>

#include "types/field_path.h"
#include "types/type_reader.h"
#include "types/type_tracker_containers.h"
#include "types/type_tracker_pointers.h"

namespace cacheline::types {
namespace {

constexpr uint32_t kMostLayers = 64;

/// Whether `inner` is `outer`, one of an array of them, or a member of one.
bool holds(const TypeTable& table, const FoundObject& outer, const FoundObject& inner) {
  const uint64_t size = table.sizeOf(outer.type).value_or(0);
  if (inner.base < outer.base || size == 0) return false;
  const uint64_t ahead = inner.base - outer.base;
  return contains(table, outer.type, outer.array ? ahead % size : ahead, inner.type);
}

/// The instruction counts its address from it.
bool isGoal(const TypeTable& table, const FoundObject& one) {
  return one.direct && !one.isItself() && isAggregate(table.kind(table.strip(one.type)));
}

/// One of each that several variables have, the innermost function's: they are compared with each other.
std::vector<FoundObject> goalsOf(const TypeTable& table, const std::vector<FoundObject>& found) {
  std::vector<FoundObject> goals;
  for (const FoundObject& one : found) {
    if (!isGoal(table, one)) continue;
    const auto same = std::ranges::find_if(goals, [&](const FoundObject& goal) {
      return goal.type == one.type && goal.base == one.base && goal.array == one.array &&
             goal.how == one.how && goal.isNamed() == one.isNamed();
    });
    if (same == goals.end())
      goals.push_back(one);
    else
      same->depth = std::min(same->depth, one.depth);
  }
  return goals;
}

/// Whether the bytes of the larger one are kept for whatever is put there, where the other one lies.
bool isBufferOf(const TypeTable& table, const FoundObject& larger, const FoundObject& smaller) {
  if (smaller.base < larger.base || smaller.size == 0 || larger.size < smaller.size) return false;
  const uint64_t ahead = smaller.base - larger.base;
  const auto isRaw = [&](uint64_t offset) {
    return std::ranges::any_of(fieldsAt(table, larger.type, offset, 1), [](const FieldPath& field) {
      return field.size == 1 && field.path.ends_with(']');
    });
  };
  return isRaw(ahead) && isRaw(ahead + smaller.size - 1);
}

/// Whether the larger one has the other's members again, as structures do in C that extend another one.
bool extends(const TypeTable& table, const FoundObject& larger, const FoundObject& smaller) {
  if (smaller.base != larger.base || larger.size < smaller.size) return false;
  const std::vector<Member>& members = table[table.strip(larger.type)].members;
  const std::vector<Member>& repeated = table[table.strip(smaller.type)].members;
  return !repeated.empty() && std::ranges::all_of(repeated, [&](const Member& one) {
    return std::ranges::any_of(members, [&](const Member& other) {
      return other.offset == one.offset && other.bitOffset == one.bitOffset && other.name == one.name &&
             isSame(table, other.type, one.type);
    });
  });
}

/// The objects that one address is taken for.
class Casts {
 public:
  Casts(const TypeTable& table, std::vector<FoundObject>& found, uint64_t address)
      : table_(table), found_(found), address_(address) {
    std::vector<FoundObject> goals = goalsOf(table, found);
    std::erase_if(goals, [](const FoundObject& one) { return !one.isNamed(); });
    for (const FoundObject& one : goals)
      if (std::ranges::none_of(goals, [&](const FoundObject& other) { return isInside(one, other); }))
        casts_.push_back(one);
  }

  bool areSettled() const {
    for (const FoundObject& one : casts_)
      for (const FoundObject& other : casts_)
        if (!areKin(one, other)) return false;
    return true;
  }

  /// By what else is known there; then by what has a whole member there, then by the innermost function's.
  void settle(uint32_t width) {
    for (const FoundObject& one : found_) {
      const bool speaks =
          (one.isNamed() || one.isItself() || !one.direct) && one.how != CodeObject::How::around;
      if (speaks && !isCast(one)) narrow([&](const FoundObject& cast) { return areRelated(one, cast); });
    }
    if (areSettled()) return;
    narrow([&](const FoundObject& cast) {
      const uint64_t ahead = address_ - cast.base;
      const uint64_t each = std::max<uint64_t>(table_.sizeOf(cast.type).value_or(0), 1);
      return isField(table_, cast.type, cast.array ? ahead % each : ahead, width);
    });
    if (areSettled()) return;
    const auto inner = std::ranges::min_element(casts_, {}, &FoundObject::depth)->depth;
    narrow([&](const FoundObject& cast) { return cast.depth == inner; });
  }

  /// Leaves what all the casts have there, and, if they are settled, themselves.
  std::vector<TypeId> take() {
    const bool settled = areSettled();
    std::erase_if(found_, [&](const FoundObject& one) {
      return !one.isItself() && std::ranges::any_of(casts_, [&](const FoundObject& cast) {
        return settled ? !areKin(one, cast) : !isInside(one, cast);
      });
    });
    std::vector<TypeId> between;
    for (const FoundObject& cast : casts_)
      if (!settled &&
          std::ranges::none_of(between, [&](TypeId one) { return isSame(table_, one, cast.type); }))
        between.push_back(cast.type);
    return between;
  }

 private:
  bool areRelated(const FoundObject& a, const FoundObject& b) const {
    return isPartOf(table_, a, b, address_) || isPartOf(table_, b, a, address_);
  }
  bool areKin(const FoundObject& a, const FoundObject& b) const {
    return areRelated(a, b) || isBufferOf(table_, a, b) || isBufferOf(table_, b, a) ||
           extends(table_, a, b) || extends(table_, b, a);
  }
  bool isCast(const FoundObject& one) const {
    return std::ranges::any_of(casts_, [&](const FoundObject& cast) {
      return cast.base == one.base && isSame(table_, cast.type, one.type);
    });
  }
  bool isInside(const FoundObject& one, const FoundObject& other) const {
    return other.size > one.size && areKin(one, other);
  }
  template <class Fits>
  void narrow(const Fits& fits) {
    if (std::ranges::any_of(casts_, fits))
      std::erase_if(casts_, [&](const FoundObject& one) { return !fits(one); });
  }

  const TypeTable& table_;
  std::vector<FoundObject>& found_;
  const uint64_t address_;
  std::vector<FoundObject> casts_;
};

}  // namespace

uint32_t layersOf(const TypeTable& table, TypeId type) {
  uint32_t layers = 0;
  for (type = table.strip(type); type != kNoType && layers < kMostLayers; layers++) {
    const Type& outer = table[type];
    TypeId inner = outer.kind == Kind::array ? outer.target : kNoType;
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
  if (one.base < node.base || (one.size > node.size && !endsInOpenArray(table, node.type))) return false;
  if (holds(table, node, one)) return true;
  for (const FieldPath& path : fieldsAt(table, node.type, address - node.base, 1)) {
    for (const InnerObject& inner : path.around) {
      const uint64_t start = node.base + inner.offset;
      if (one.base >= start && !isSame(table, inner.type, one.type) &&
          contains(table, inner.type, one.base - start, one.type))
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
      one.how = CodeObject::How::tracked;
}

std::vector<TypeId> settleCasts(const TypeTable& table, std::vector<FoundObject>& found, uint64_t address,
                                uint32_t width) {
  if (found.size() < 2) return {};
  Casts casts(table, found, address);
  if (casts.areSettled()) return {};
  casts.settle(std::max(width, 1u));
  return casts.take();
}

}  // namespace cacheline::types
