// Sizes of bases in their class, the virtual ones that it has, and the room of what has no size of its own.
#include "types/member_places.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "types/type_reader.h"

namespace cacheline::types {
namespace {

constexpr int kMostEmptySteps = 1 << 12;  ///< of one question: members that lie on each other multiply

bool isEmpty(const TypeTable& table, TypeId id, int& steps, int depth) {
  const Type& type = table[table.strip(id)];
  if (!isAggregate(type.kind) || !type.size || *type.size > 1 || depth > kDeepestNesting ||
      ++steps > kMostEmptySteps)
    return false;
  return std::all_of(type.members.begin(), type.members.end(),
                     [&](const Member& member) { return isEmpty(table, member.type, steps, depth + 1); });
}

class BaseSizer {
 public:
  BaseSizer(const TypeTable& table, Type& type) : table_(table), type_(type) {}

  void run() {
    sizeBases();
    collectVirtualBases();
  }

 private:
  const Type& typeOf(TypeId id) const { return table_[table_.strip(id)]; }

  void sizeBases() {
    for (Member& base : type_.members) {
      if (base.role != Member::Role::base) continue;
      const Type& type = typeOf(base.type);
      if (isEmptyClass(table_, base.type)) {
        base.size = 0;
        continue;
      }
      if (!type.virtualBases.empty()) base.size = nonVirtualSize(type);
      for (const Member& other : type_.members)
        if (other.role != Member::Role::virtualBase && other.size != 0 && other.offset > base.offset)
          base.size = std::min(base.size, other.offset - base.offset);
    }
  }

  /// Up to the end of its last member, and at least the pointer to its vtable.
  uint64_t nonVirtualSize(const Type& type) const {
    uint64_t size = table_.target().pointer;
    for (const Member& member : type.members)
      if (member.role != Member::Role::virtualBase) size = std::max(size, endOf(member));
    return size;
  }

  /// In inheritance graph order: depth first, left to right, each class before its bases.
  void collectVirtualBases() {
    const auto add = [this](TypeId base) {
      auto& all = type_.virtualBases;
      if (std::find(all.begin(), all.end(), base) == all.end()) all.push_back(base);
    };
    for (const Member& member : type_.members) {
      if (member.role != Member::Role::base && member.role != Member::Role::virtualBase) continue;
      const TypeId base = table_.strip(member.type);
      if (member.role == Member::Role::virtualBase) add(base);
      for (const TypeId indirect : table_[base].virtualBases) add(indirect);
      type_.basesUnknown |= member.incomplete || table_[base].basesUnknown;
    }
  }

  const TypeTable& table_;
  Type& type_;
};

}  // namespace

void sizeBases(const TypeTable& table, Type& type) {
  const auto isBase = [](const Member& member) {
    return member.role == Member::Role::base || member.role == Member::Role::virtualBase;
  };
  if (std::any_of(type.members.begin(), type.members.end(), isBase)) BaseSizer(table, type).run();
}

uint64_t dataEnd(const TypeTable& table, const Type& type) {
  const Type* inner = &type;
  uint64_t start = 0, end = 0;
  for (int depth = 0; depth < kDeepestNesting && inner->kind != Kind::unionType; depth++) {
    const Member* last = nullptr;
    for (const Member& member : inner->members)
      if (member.located && (last == nullptr || endOf(member) > endOf(*last))) last = &member;
    if (last == nullptr) break;
    end = start + endOf(*last);
    inner = &table[table.strip(last->type)];
    if (!isAggregate(inner->kind)) break;
    start += last->offset;
  }
  return end;
}

bool isEmptyClass(const TypeTable& table, TypeId type) {
  int steps = 0;
  return isEmpty(table, type, steps, 0);
}

namespace {

/// A bit-field's storage unit may begin before it.
uint64_t firstByte(const Member& member) {
  return member.offset + member.bitOffset / 8;
}

/// Members by their offsets get what lies behind them up to the next one.
void giveRoom(Type& type) {
  // Behind the last one virtual bases may lie.
  const uint64_t end = type.virtualBases.empty() ? type.size.value_or(0) : 0;
  struct Begin {
    uint64_t at, next;   ///< of the members that begin last of what was seen, and of those behind them
    bool known = false;  ///< a member with a size begins there: another one has no bytes
  };
  // Those of one variant of a Rust enum lie behind each other, and among those that are always there.
  std::unordered_map<std::string_view, Begin> begins{{"", {end, end}}};
  for (size_t i = type.members.size(), from = i; i > 0; i = from) {
    const uint64_t first = firstByte(type.members[i - 1]);
    while (from > 0 && firstByte(type.members[from - 1]) == first) from--;
    for (size_t at = from; at < i; at++) {
      const Member& member = type.members[at];
      if (!member.located) continue;
      Begin& begin = begins.try_emplace(member.variant, Begin{end, end}).first->second;
      if (first != begin.at) begin = {first, begin.at};
      begin.known |= member.size > 1 && !member.incomplete;
    }
    for (size_t at = from; at < i; at++) {
      Member& member = type.members[at];
      if (!member.located || !member.incomplete) continue;
      const Begin &own = begins.at(member.variant), &common = begins.at("");
      const uint64_t behind = std::min(own.next, common.at > first ? common.at : common.next);
      if (type.kind == Kind::unionType)
        member.size = end;
      else if (!own.known && behind > first)
        member.size = behind - first;
    }
  }
}

}  // namespace

void sortMembers(Type& type) {
  const auto bit = [](const Member& member) { return member.offset * 8 + member.bitOffset; };
  std::stable_sort(type.members.begin(), type.members.end(),
                   [&](const Member& a, const Member& b) { return bit(a) < bit(b); });
  if (std::any_of(type.members.begin(), type.members.end(),
                  [](const Member& member) { return member.incomplete; }))
    giveRoom(type);
}

}  // namespace cacheline::types
