// Sizes of bases in their class, and the order of the virtual ones.
#include "types/base_classes.h"

#include <algorithm>

#include "types/type_reader.h"
#include "types/virtual_bases.h"

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

class BasePlacer {
 public:
  BasePlacer(const TypeTable& table, Type& type) : table_(table), type_(type) {}

  void place() {
    sizeBases();
    collectVirtualBases();
    if (type_.virtualBases.empty() || !type_.size || type_.basesUnknown) return;
    const auto places = placesOfVirtualBases(table_, type_);
    if (!places) return;
    for (size_t i = 0; i < places->size(); i++) locate(type_.virtualBases[i], (*places)[i]);
  }

 private:
  const Type& typeOf(TypeId id) const { return table_[table_.strip(id)]; }

  void sizeBases() {
    for (Member& base : type_.members) {
      if (base.role != Member::Role::base) continue;
      const Type& type = typeOf(base.type);
      const uint64_t data = leastNonVirtualSize(table_, type);
      const bool shared = std::any_of(type_.members.begin(), type_.members.end(), [&](const Member& other) {
        return other.role != Member::Role::virtualBase && other.size != 0 && other.offset > base.offset &&
               other.offset < base.offset + base.size && other.offset >= base.offset + data;
      });
      if (isEmptyClass(table_, base.type))
        base.size = 0;
      else if (shared || !type.virtualBases.empty())
        base.size = shared ? data : nonVirtualSize(table_, type);
    }
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

  void locate(TypeId base, uint64_t offset) {
    auto found = std::find_if(type_.members.begin(), type_.members.end(), [&](const Member& member) {
      return member.role == Member::Role::virtualBase && table_.strip(member.type) == base;
    });
    if (found == type_.members.end()) {
      Member indirect;
      indirect.role = Member::Role::virtualBase;
      indirect.type = base;
      indirect.artificial = true;
      found = type_.members.insert(type_.members.end(), std::move(indirect));
    }
    found->located = true;
    found->offset = offset;
    found->size = isEmptyClass(table_, base) ? 0 : nonVirtualSize(table_, table_[base]);
  }

  const TypeTable& table_;
  Type& type_;
};

}  // namespace

void placeBases(const TypeTable& table, Type& type) {
  const auto isBase = [](const Member& member) {
    return member.role == Member::Role::base || member.role == Member::Role::virtualBase;
  };
  if (std::any_of(type.members.begin(), type.members.end(), isBase)) BasePlacer(table, type).place();
}

bool isEmptyClass(const TypeTable& table, TypeId type) {
  int steps = 0;
  return isEmpty(table, type, steps, 0);
}

}  // namespace cacheline::types
