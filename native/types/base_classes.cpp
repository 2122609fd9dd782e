// The order and the places of virtual bases are computed as the ABI says and checked against the class's
// size.
#include "types/base_classes.h"

#include <algorithm>
#include <optional>

#include "types/natural_alignment.h"
#include "types/type_reader.h"

namespace cacheline::types {
namespace {

constexpr int kDeepestNesting = 32;
constexpr uint64_t kPointer = 8;  ///< bytes of a vtable pointer

bool isEmpty(const TypeTable& table, TypeId id, int depth) {
  const Type& type = table[table.strip(id)];
  if (!isAggregate(type.kind) || !type.size || *type.size > 1 || depth > kDeepestNesting) return false;
  return std::all_of(type.members.begin(), type.members.end(),
                     [&](const Member& member) { return isEmpty(table, member.type, depth + 1); });
}

uint64_t endOf(const Member& member) {
  if (member.bitSize == 0) return member.offset + member.size;
  return member.offset + (uint64_t{member.bitOffset} + member.bitSize + 7) / 8;
}

/// Bytes up to the last one of data, without virtual bases.
uint64_t dataSize(const Type& type) {
  uint64_t size = 0;
  for (const Member& member : type.members)
    if (member.role != Member::Role::virtualBase) size = std::max(size, endOf(member));
  // A class with virtual bases has a vtable pointer, maybe that of a base.
  return type.virtualBases.empty() ? size : std::max(size, kPointer);
}

class BasePlacer {
 public:
  BasePlacer(const TypeTable& table, Type& type) : table_(table), type_(type) {}

  void place() {
    sizeBases();
    collectVirtualBases();
    if (type_.virtualBases.empty() || !type_.size) return;
    // A class whose size has tail padding keeps it as a base only where it is "POD for the purpose of
    // layout", which DWARF does not say: the size of the whole decides.
    const auto tight = placesOf(false), loose = placesOf(true);
    const auto& places = tight ? tight : loose;
    if (!places || (tight && loose && *tight != *loose)) return;
    for (size_t i = 0; i < places->size(); i++) locate(type_.virtualBases[i], (*places)[i]);
  }

 private:
  const Type& typeOf(TypeId id) const { return table_[table_.strip(id)]; }

  void sizeBases() {
    for (Member& base : type_.members) {
      if (base.role != Member::Role::base) continue;
      const Type& type = typeOf(base.type);
      const uint64_t data = dataSize(type);
      const bool shared = std::any_of(type_.members.begin(), type_.members.end(), [&](const Member& other) {
        return other.role != Member::Role::virtualBase && other.size != 0 && other.offset > base.offset &&
               other.offset < base.offset + base.size && other.offset >= base.offset + data;
      });
      if (isEmpty(table_, base.type, 0))
        base.size = 0;
      else if (shared || !type.virtualBases.empty())
        base.size = data;
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
    }
  }

  bool hasVtablePointer(const Type& type, int depth = 0) const {
    if (!type.virtualBases.empty()) return true;
    return std::any_of(type.members.begin(), type.members.end(), [&](const Member& member) {
      return member.role == Member::Role::vtablePointer ||
             (member.role == Member::Role::base && member.offset == 0 && depth < kDeepestNesting &&
              hasVtablePointer(typeOf(member.type), depth + 1));
    });
  }

  bool isNearlyEmpty(const Type& type) const { return hasVtablePointer(type) && dataSize(type) == kPointer; }

  uint64_t alignmentOf(const Type& type) const {
    uint64_t alignment = std::max<uint64_t>(type.alignment, type.virtualBases.empty() ? 1 : kPointer);
    for (const Member& member : type.members)
      if (member.role != Member::Role::virtualBase)
        alignment = std::max({alignment, naturalAlignment(table_, member.type), uint64_t{member.alignment}});
    return alignment;
  }

  /// Offsets of type_.virtualBases; nullopt where the size that follows is not the stated one.
  std::optional<std::vector<uint64_t>> placesOf(bool keepPadding) const {
    constexpr uint64_t kNowhere = ~uint64_t{0};
    const auto& bases = type_.virtualBases;
    std::vector<uint64_t> places(bases.size(), kNowhere);
    const auto set = [&](TypeId base, uint64_t offset) {
      const auto found = std::find(bases.begin(), bases.end(), base);
      if (found == bases.end()) return;
      uint64_t& place = places[static_cast<size_t>(found - bases.begin())];
      if (place == kNowhere) place = offset;
    };
    // A base that shares its vtable pointer with a virtual base of its own has that at its start.
    const auto setPrimary = [&](const Type& base, uint64_t offset) {
      for (const Member& member : base.members)
        if (member.role == Member::Role::virtualBase && member.located && member.offset == 0)
          set(table_.strip(member.type), offset);
    };
    bool pointer = false;  // at the class's start, its own or a base's
    for (const Member& member : type_.members) {
      pointer |= member.role == Member::Role::vtablePointer;
      if (member.role != Member::Role::base) continue;
      const Type& base = typeOf(member.type);
      pointer |= member.offset == 0 && hasVtablePointer(base);
      setPrimary(base, member.offset);
    }
    if (!pointer)
      for (const TypeId base : bases)
        if (isNearlyEmpty(table_[base])) {
          set(base, 0);
          break;
        }
    uint64_t end = dataSize(type_), alignment = alignmentOf(type_);
    for (size_t i = 0; i < bases.size(); i++) {
      const Type& base = table_[bases[i]];
      if (!base.size || base.declaration) return std::nullopt;
      const uint64_t own = alignmentOf(base);
      alignment = std::max(alignment, own);
      const bool empty = isEmpty(table_, bases[i], 0);
      if (places[i] == kNowhere) places[i] = empty ? 0 : (end + own - 1) / own * own;
      setPrimary(base, places[i]);
      const uint64_t size = empty                                      ? 0
                            : keepPadding && base.virtualBases.empty() ? *base.size
                                                                       : dataSize(base);
      end = std::max(end, places[i] + size);
    }
    if ((end + alignment - 1) / alignment * alignment != *type_.size) return std::nullopt;
    return places;
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
    found->size = isEmpty(table_, base, 0) ? 0 : dataSize(table_[base]);
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
  return isEmpty(table, type, 0);
}

}  // namespace cacheline::types
