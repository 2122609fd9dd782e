// Goes down from the object to the member, through every member that holds the accessed bytes.
#include "types/field_path.h"

#include <algorithm>

#include "types/named_members.h"
#include "types/type_reader.h"

namespace cacheline::types {
namespace {

constexpr int kDeepestPath = 64;
constexpr int kDeepestContained = 16;
constexpr size_t kMostCandidates = 64;
constexpr size_t kMostSteps = 1 << 16;  ///< of one question; overlapping lies would multiply

/// A flexible array, or the zero-length one of GNU C, at the structure's end: what was allocated behind it
/// are its elements.
bool isFlexibleArray(const TypeTable& table, const NamedMember& named, const Type& in) {
  if (named.member.size != 0 || !in.size || in.kind == Kind::unionType) return false;
  const Type& type = table[table.strip(named.member.type)];
  if (type.kind != Kind::array || type.dimensions.empty()) return false;
  const bool open = !type.dimensions[0] || *type.dimensions[0] == 0;
  return open && !in.members.empty() && named.offset >= in.members.back().offset;
}

class Descent {
 public:
  Descent(const TypeTable& table, uint32_t width, uint64_t element)
      : table_(table), width_(std::max(width, 1u)), element_(element) {}

  /// `at`: the accessed byte, from the start of `field`, of which `type` is the type. `wrapper`: the standard
  /// library's type that `field` was reached through.
  void into(TypeId type, uint64_t at, const FieldPath& field, const FieldPath* wrapper, int depth) {
    if (++steps_ > kMostSteps || depth > kDeepestPath) return;
    const TypeId stripped = table_.strip(type);
    const Type& inner = table_[stripped];
    if (inner.kind == Kind::array)
      intoArray(inner, isAnyElement(table_.sizeOf(stripped).value_or(0)), at, field, depth);
    else if (isAggregate(inner.kind) && !inner.declaration)
      intoMembers(stripped, inner, at, field, wrapper, depth);
    else
      take(wrapper != nullptr ? *wrapper : field);
  }

  std::vector<FieldPath> found;

 private:
  void take(const FieldPath& field) {
    const auto same = [&](const FieldPath& other) {
      return other.path == field.path && other.offset == field.offset;
    };
    if (found.size() >= kMostCandidates || std::any_of(found.begin(), found.end(), same)) return;
    found.push_back(field);
    found.back().around = around_;
  }

  /// Part of the access lies behind what it begins in, although it would fit.
  bool reachesOut(uint64_t at, uint64_t size) const { return width_ <= size && at > size - width_; }

  /// Of an array of so many bytes, 0: of unknown length.
  bool isAnyElement(uint64_t bytes) const { return element_ != 0 && (bytes == 0 || bytes > element_); }

  /// `any`: nobody knows which of its elements it is.
  void intoArray(const Type& array, bool any, uint64_t at, const FieldPath& field, int depth) {
    const auto size = table_.sizeOf(array.target);
    if (!size || *size == 0) return take(field);
    const uint64_t within = at % *size;
    if (reachesOut(within, *size)) return take(field);
    // The index in each dimension; the outermost one may be open.
    std::string indices;
    uint64_t rest = at / *size;
    for (size_t i = array.dimensions.size(); i > 0; i--) {
      uint64_t index = rest;
      if (i > 1) {
        const auto& length = array.dimensions[i - 1];
        if (!length || *length == 0) return take(field);
        index = rest % *length;
        rest /= *length;
      }
      indices.insert(0, '[' + (any ? "?" : std::to_string(index)) + ']');
    }
    // Of the outermost dimension, by which nothing was divided, all the rest is the index.
    FieldPath element{field.path + indices,
                      field.offset + (at - within),
                      *size,
                      array.target,
                      field.index ? field.index : std::optional<uint64_t>(rest),
                      {}};
    into(array.target, within, element, nullptr, depth + 1);
  }

  void intoMembers(TypeId id, const Type& type, uint64_t at, const FieldPath& field, const FieldPath* wrapper,
                   int depth) {
    if (const auto inner = wrapped(table_, id)) {
      const Member& member = inner->member;
      if (at < inner->offset || at - inner->offset >= member.size) return;
      const FieldPath through{field.path, field.offset + inner->offset, member.size, member.type, field.index,
                              {}};
      return into(member.type, at - inner->offset, through, wrapper != nullptr ? wrapper : &field, depth + 1);
    }
    around_.push_back({id, field.offset});
    const std::vector<NamedMember> members = namedMembers(table_, id);
    const bool amongBits = std::any_of(members.begin(), members.end(),
                                       [&](const NamedMember& member) { return holdsBits(member, at, 1); });
    const size_t before = found.size();
    intoEach(members, false, type, at, field, amongBits, depth);
    // `char pad[64]` beside what really lies there says nothing.
    if (found.size() == before) intoEach(members, true, type, at, field, amongBits, depth);
    around_.pop_back();
  }

  /// `bytes`: of the members those that are arrays of bytes, else those that are none.
  void intoEach(const std::vector<NamedMember>& members, bool bytes, const Type& type, uint64_t at,
                const FieldPath& field, bool amongBits, int depth) {
    for (const NamedMember& named : members) {
      const Member& member = named.member;
      if (isBytes(member.type) != bytes) continue;
      const FieldPath inner{field.path.empty() ? named.name : field.path + "." + named.name,
                            field.offset + named.offset,
                            member.size,
                            member.type,
                            field.index,
                            {}};
      if (member.bitSize != 0) {
        if (amongBits && holdsBits(named, at, width_)) take(inner);
        continue;
      }
      if (at < named.offset) continue;
      const uint64_t within = at - named.offset;
      if (within >= member.size && !isFlexibleArray(table_, named, type)) continue;
      if (member.size != 0 && reachesOut(within, member.size))
        take(field);
      else
        into(member.type, within, inner, nullptr, depth + 1);
    }
  }

  bool isBytes(TypeId id) const {
    const Type& type = table_[table_.strip(id)];
    return type.kind == Kind::array && table_.sizeOf(type.target) == 1 &&
           !isAggregate(table_.kind(table_.strip(type.target)));
  }

  static bool holdsBits(const NamedMember& named, uint64_t at, uint64_t bytes) {
    if (named.member.bitSize == 0) return false;
    const uint64_t first = named.offset * 8 + named.member.bitOffset, end = first + named.member.bitSize;
    return first < (at + bytes) * 8 && end > at * 8;
  }

  const TypeTable& table_;
  uint64_t width_, element_;
  size_t steps_ = 0;
  std::vector<InnerObject> around_;  ///< of the member at hand
};

/// Whether a type has one inside that `is` takes.
template <typename Is>
struct Containment {
  bool in(TypeId outer, uint64_t offset, int depth) {
    outer = table.strip(outer);
    if (outer == kNoType || depth > kDeepestContained || ++steps > kMostSteps) return false;
    if (offset == 0 && is(outer)) return true;
    const Type& type = table[outer];
    if (isElementBuffer(type.name)) return false;
    if (type.kind == Kind::array) {
      const uint64_t element = table.sizeOf(type.target).value_or(0);
      return element != 0 && in(type.target, offset % element, depth + 1);
    }
    return std::any_of(type.members.begin(), type.members.end(), [&](const Member& member) {
      const uint64_t bytes = table.sizeOf(member.type).value_or(0);
      return offset >= member.offset &&
             (offset - member.offset < bytes || isFlexibleArray(table, {{}, member.offset, member}, type)) &&
             in(member.type, offset - member.offset, depth + 1);
    });
  }

  const TypeTable& table;
  const Is is;
  size_t steps = 0;
};

struct OpenClasses {
  /// `complete`: with its virtual bases.
  std::optional<OpenClass> at(TypeId asked, uint64_t offset, bool complete, int depth) {
    if (asked == kUnreadType) return OpenClass{asked};
    const TypeId id = table.strip(asked);
    if (id == kNoType || depth > kDeepestPath || ++steps > kMostSteps) return std::nullopt;
    const Type& type = table[id];
    if (type.kind == Kind::array) {
      const uint64_t element = table.sizeOf(type.target).value_or(0);
      return at(type.target, element == 0 ? 0 : offset % element, true, depth + 1);
    }
    if (!isAggregate(type.kind)) return std::nullopt;
    if (type.declaration) return OpenClass{id};
    for (const Member& member : type.members) {
      if (!member.located) continue;
      if (offset < member.offset || offset - member.offset >= member.size) continue;
      const bool whole = member.role == Member::Role::field;
      if (const auto open = at(member.type, offset - member.offset, whole, depth + 1)) return open;
    }
    if (!complete || type.virtualBases.empty()) return std::nullopt;
    const TypeId base = type.virtualBases.front();
    return OpenClass{base != kNoType ? base : kUnreadType, false};
  }

  const TypeTable& table;
  size_t steps = 0;
};

}  // namespace

std::optional<OpenClass> openClassAt(const TypeTable& table, TypeId type, uint64_t offset) {
  return OpenClasses{table}.at(type, offset, true, 0);
}

bool endsInFlexibleArray(const TypeTable& table, TypeId type) {
  const TypeId stripped = table.strip(type);
  if (!isAggregate(table.kind(stripped))) return false;
  const std::vector<NamedMember> members = namedMembers(table, stripped);
  return std::any_of(members.begin(), members.end(), [&](const NamedMember& member) {
    return isFlexibleArray(table, member, table[stripped]);
  });
}

bool contains(const TypeTable& table, TypeId outer, uint64_t offset, TypeId inner) {
  // DWARF may repeat a type.
  const std::string name = table.nameOf(table.strip(inner));
  const uint64_t size = table.sizeOf(inner).value_or(0);
  const auto is = [&](TypeId type) {
    return table.sizeOf(type).value_or(0) == size && table.nameOf(type) == name;
  };
  return Containment<decltype(is)>{table, is}.in(outer, offset, 0);
}

bool containsSame(const TypeTable& table, TypeId outer, uint64_t offset, const TypeTable& others,
                  TypeId inner) {
  const Type& wanted = others[others.strip(inner)];
  if (!isAggregate(wanted.kind) || wanted.members.empty()) return false;
  const auto areAlike = [](const Member& a, const Member& b) {
    return a.name == b.name && a.offset == b.offset && a.size == b.size;
  };
  const auto is = [&](TypeId id) {
    const Type& type = table[id];
    return type.kind == wanted.kind && type.size == wanted.size &&
           std::ranges::equal(type.members, wanted.members, areAlike);
  };
  return Containment<decltype(is)>{table, is}.in(outer, offset, 0);
}

std::vector<FieldPath> fieldsAt(const TypeTable& table, TypeId type, uint64_t offset, uint32_t width,
                                uint64_t element) {
  const TypeId stripped = table.strip(type);
  if (stripped == kNoType || offset > (uint64_t{1} << 60)) return {};
  const auto size = table.sizeOf(type);
  if (size && offset >= *size && !isAggregate(table.kind(stripped))) return {};
  Descent descent(table, width, element);
  descent.into(type, offset, {{}, 0, size.value_or(0), type, std::nullopt, {}}, nullptr, 0);
  return std::move(descent.found);
}

bool isField(const TypeTable& table, TypeId type, uint64_t offset, uint32_t width) {
  const auto fields = fieldsAt(table, type, offset, width);
  return std::any_of(fields.begin(), fields.end(),
                     [&](const FieldPath& field) { return field.offset == offset && field.size == width; });
}

}  // namespace cacheline::types
