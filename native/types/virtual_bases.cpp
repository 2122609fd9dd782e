// The ABI's steps, with a branch wherever DWARF does not say which way a compiler went.
#include "types/virtual_bases.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "types/natural_alignment.h"
#include "types/type_reader.h"

namespace cacheline::types {
namespace {

constexpr uint64_t kMostElements = 64;  ///< of an array, that are looked into for empty objects
constexpr size_t kMostEmpty = 4096;
constexpr int kMostWays = 4096;
/// Of one walk through bases and members: a lie could branch without end.
constexpr int kMostBaseSteps = 1 << 12;
constexpr uint64_t kUnplaced = ~uint64_t{0};

Emptiness emptiness(const TypeTable& table, TypeId id, int& steps, int depth = 0) {
  const Type& type = table[table.strip(id)];
  if (!isAggregate(type.kind) || !type.size || type.declaration || depth > kDeepestNesting ||
      ++steps > kMostBaseSteps)
    return Emptiness::data;
  Emptiness result = Emptiness::empty;
  for (const Member& member : type.members) {
    if (member.role != Member::Role::field && member.role != Member::Role::base) return Emptiness::data;
    const Emptiness inner = emptiness(table, member.type, steps, depth + 1);
    if (inner == Emptiness::data) return inner;
    if (inner == Emptiness::unsure || member.role == Member::Role::field) result = Emptiness::unsure;
  }
  return result;
}

uint64_t roundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

bool hasVtablePointer(const TypeTable& table, const Type& type, int& steps) {
  if (!type.virtualBases.empty()) return true;
  return std::any_of(type.members.begin(), type.members.end(), [&](const Member& member) {
    return member.role == Member::Role::vtablePointer ||
           (member.role == Member::Role::base && member.offset == 0 && ++steps < kMostBaseSteps &&
            hasVtablePointer(table, table[table.strip(member.type)], steps));
  });
}

bool hasVtablePointer(const TypeTable& table, const Type& type) {
  int steps = 0;
  return hasVtablePointer(table, type, steps);
}

/// Whether another member lies in the tail padding of this one, which is `type.members[index]`: it is
/// [[no_unique_address]]. Members are sorted by offset, so those right behind it tell. True where too many
/// do.
bool sharesTail(const Type& type, size_t index, const Type& inner, int& steps) {
  const Member& member = type.members[index];
  if (!isAggregate(inner.kind) || type.kind == Kind::unionType) return false;
  for (size_t i = index + 1; i < type.members.size(); i++) {
    if (++steps >= kMostBaseSteps) return true;
    const Member& other = type.members[i];
    if (other.offset >= member.offset + member.size) break;
    if (other.located && other.role == Member::Role::field && other.offset > member.offset) return true;
  }
  return false;
}

/// Without any tail padding; `complete`: with its virtual bases. Where that takes too many steps, less. From
/// the last member on: most of the others end before it.
uint64_t leastSize(const TypeTable& table, const Type& type, int& steps, int depth = 0,
                   bool complete = false) {
  uint64_t size = hasVtablePointer(table, type) ? table.target().pointer : 0;
  for (size_t i = type.members.size(); i-- > 0;) {
    const Member& member = type.members[i];
    const bool isVirtual = member.role == Member::Role::virtualBase;
    if (isVirtual && (!complete || !member.located)) continue;
    const Type& inner = table[table.strip(member.type)];
    if (std::max(endOf(member), member.offset + inner.size.value_or(0)) <= size) continue;
    if (depth >= kDeepestNesting || ++steps >= kMostBaseSteps) {
      size = std::max(size, isAggregate(inner.kind) ? member.offset : endOf(member));
      continue;
    }
    const bool base = isVirtual || member.role == Member::Role::base;
    const bool empty = base && emptiness(table, member.type, steps) == Emptiness::empty;
    const bool shared = base || sharesTail(type, i, inner, steps);
    const uint64_t own = empty    ? inner.size.value_or(0)
                         : shared ? leastSize(table, inner, steps, depth + 1, !base)
                                  : 0;
    size = std::max(size, shared ? member.offset + own : endOf(member));
  }
  return size;
}

bool isNearlyEmpty(const TypeTable& table, const Type& type) {
  return hasVtablePointer(table, type) && nonVirtualSize(table, type) == table.target().pointer;
}

/// Where data may go on behind what is not virtual: DWARF does not say whose tail padding may be used, and
/// whether a member of an empty class has a byte ([[no_unique_address]]).
std::set<uint64_t> dataEnds(const TypeTable& table, const Type& type) {
  uint64_t least = hasVtablePointer(table, type) ? table.target().pointer : 0;
  std::set<uint64_t> ends{least};
  int steps = 0;
  for (auto at = type.members.rbegin(); at != type.members.rend(); ++at) {
    const Member& member = *at;
    if (member.role == Member::Role::virtualBase) continue;
    const bool base = member.role == Member::Role::base;
    const Type& inner = table[table.strip(member.type)];
    const uint64_t whole =
        base && inner.virtualBases.empty() ? member.offset + inner.size.value_or(0) : endOf(member);
    if (whole <= least) continue;
    const bool data = emptiness(table, member.type, steps) == Emptiness::data;
    if (base && !data) continue;
    uint64_t tight = whole;
    if (!data)
      tight = 0;
    else if (base || isAggregate(inner.kind))
      tight = std::min(whole, member.offset + leastSize(table, inner, steps, 0, !base));
    least = std::max(least, tight);
    ends.insert({tight, whole});
  }
  ends.erase(ends.begin(), ends.lower_bound(least));
  return ends;
}

/// The objects of empty classes in one object: two of one class never lie at one place.
class EmptyObjects {
 public:
  explicit EmptyObjects(const TypeTable& table) : table_(table) {}

  /// False where it is not known. `complete`: with its virtual bases.
  bool add(TypeId id, uint64_t offset, bool complete, int depth = 0) {
    id = table_.strip(id);
    if (id == kNoType) return true;
    if (depth > kDeepestNesting || all_.size() > kMostEmpty || ++steps_ > kMostBaseSteps) return false;
    const Type& type = table_[id];
    if (type.kind == Kind::array) {
      const uint64_t size = table_.sizeOf(type.target).value_or(0), whole = table_.sizeOf(id).value_or(0);
      if (size == 0) return true;
      const uint64_t count = whole / size;
      for (uint64_t i = 0; i < std::min(count, kMostElements); i++)
        if (!add(type.target, offset + i * size, true, depth + 1)) return false;
      return true;
    }
    if (!isAggregate(type.kind)) return true;
    if (emptiness(table_, id, steps_) != Emptiness::data) all_.emplace(offset, id);
    return addMembers(type, offset, complete, depth);
  }
  bool addMembers(const Type& type, uint64_t offset, bool complete, int depth = 0) {
    for (const Member& member : type.members) {
      const bool isVirtual = member.role == Member::Role::virtualBase;
      if (isVirtual && !complete) continue;
      if (!member.located) return false;
      const bool whole = member.role == Member::Role::field;
      if (!add(member.type, offset + member.offset, whole, depth + 1)) return false;
    }
    return true;
  }
  bool meets(const EmptyObjects& other, uint64_t offset) const {
    return std::any_of(other.all_.begin(), other.all_.end(), [&](const auto& object) {
      return all_.contains({object.first + offset, object.second});
    });
  }
  void take(const EmptyObjects& other, uint64_t offset) {
    for (const auto& [at, type] : other.all_) all_.emplace(at + offset, type);
  }

 private:
  const TypeTable& table_;
  int steps_ = 0;
  std::set<std::pair<uint64_t, TypeId>> all_;
};

class Placer {
 public:
  Placer(const TypeTable& table, const Type& type) : table_(table), type_(type) {}

  std::optional<std::vector<uint64_t>> place() {
    EmptyObjects own(table_);
    if (!own.addMembers(type_, 0, false) || !collect() || !claimPrimaries()) return std::nullopt;
    for (const uint64_t end : dataEnds(table_, type_)) {
      State state{std::vector<uint64_t>(bases_.size(), kUnplaced), own, end, nonVirtualSize(table_, type_)};
      putClaimed(kNoType, 0, state);
      go(0, state);
    }
    if (found_.size() != 1 || ways_ > kMostWays) return std::nullopt;
    return *found_.begin();
  }

 private:
  struct Base {
    bool empty = false;
    uint64_t size = 1;              ///< of the complete class
    std::set<uint64_t> alignments;  ///< as a base
    std::set<uint64_t> sizes;       ///< as a base, bytes: with its tail padding or without
    EmptyObjects objects;
  };
  struct State {
    std::vector<uint64_t> places;
    EmptyObjects objects;
    uint64_t dataEnd = 0, end = 0;
  };

  /// All that a class may have as a base; this one's size bounds what is open.
  std::set<uint64_t> alignmentsOf(const Type& type, bool stated) const {
    const auto [least, most] = nonVirtualAlignment(table_, type, stated);
    std::set<uint64_t> all{least};
    for (uint64_t more = least * 2; more <= std::min(most, *type_.size) && *type_.size % more == 0; more *= 2)
      all.insert(more);
    return all;
  }

  bool collect() {
    alignment_ = *alignmentsOf(type_, true).rbegin();
    for (const TypeId id : type_.virtualBases) {
      const Type& type = table_[id];
      const Emptiness emptiness = emptinessOf(table_, id);
      if (!type.size || type.declaration || emptiness == Emptiness::unsure) return false;
      Base base{emptiness == Emptiness::empty, *type.size, {}, {}, EmptyObjects(table_)};
      for (const bool stated : {false, true}) base.alignments.merge(alignmentsOf(type, stated));
      base.sizes.insert({nonVirtualSize(table_, type), leastNonVirtualSize(table_, type)});
      if (type.virtualBases.empty()) base.sizes.insert(*type.size);
      if (!base.objects.add(id, 0, false)) return false;
      alignment_ = std::max(alignment_, *base.alignments.rbegin());
      bases_.push_back(std::move(base));
    }
    return true;
  }

  /// Its index in type_.virtualBases; their number where it is none of them.
  size_t indexOf(TypeId base) const {
    const auto& all = type_.virtualBases;
    return static_cast<size_t>(std::find(all.begin(), all.end(), base) - all.begin());
  }

  /// A virtual base with data at the start of a class shares its vtable pointer with it: the class claims it
  /// for its place. False where the class's own virtual bases are not known.
  bool claim(const Type& type, TypeId root, uint64_t offset, int depth) {
    if (depth > kDeepestNesting || ++steps_ > kMostBaseSteps) return false;
    for (const Member& member : type.members) {
      const TypeId id = table_.strip(member.type);
      if (member.role == Member::Role::virtualBase) {
        if (!member.located) return false;
        if (member.offset == 0 && emptinessOf(table_, id) == Emptiness::data)
          claims_[id].insert({root, offset});
      } else if (member.role == Member::Role::base) {
        if (!claim(table_[id], root, offset + member.offset, depth + 1)) return false;
      }
    }
    return true;
  }

  /// Who has whom at its start. False where two classes claim one virtual base: compilers decide that in
  /// ways of their own.
  bool claimPrimaries() {
    bool pointer = false;  // at the class's start, of a base that is not virtual
    for (const Member& member : type_.members) {
      if (member.role != Member::Role::base) continue;
      const Type& base = table_[table_.strip(member.type)];
      pointer |= hasVtablePointer(table_, base);
      if (!claim(base, kNoType, member.offset, 0)) return false;
    }
    for (const TypeId id : type_.virtualBases)
      if (!claim(table_[id], id, 0, 0)) return false;
    // What is claimed by the claimed one of a place is there for its sake.
    for (auto& [id, own] : claims_)
      std::erase_if(own, [&, base = id](const auto& one) {
        return std::any_of(claims_.begin(), claims_.end(), [&](const auto& other) {
          return other.first != base && other.second.contains(one) &&
                 claims_.at(base).contains({other.first, 0});
        });
      });
    for (const auto& [id, own] : claims_)
      if (own.size() > 1) return false;
    if (pointer) return true;
    TypeId primary = kNoType;
    for (const TypeId id : type_.virtualBases) {
      if (!isNearlyEmpty(table_, table_[id])) continue;
      if (claims_.contains(id)) return false;  // whether another one is taken instead differs
      primary = id;
      break;
    }
    if (primary != kNoType) claims_[primary] = {{kNoType, 0}};
    return true;
  }

  void go(size_t index, const State& state) {
    if (++ways_ > kMostWays) return;
    if (index == bases_.size()) {
      const bool all = std::find(state.places.begin(), state.places.end(), kUnplaced) == state.places.end();
      if (all && roundUp(state.end, alignment_) == *type_.size) found_.insert(state.places);
      return;
    }
    const Base& base = bases_[index];
    if (claims_.contains(type_.virtualBases[index])) return go(index + 1, state);
    for (const uint64_t alignment : base.alignments) {
      uint64_t place = 0;
      if (!base.empty || state.objects.meets(base.objects, place)) {
        place = roundUp(state.dataEnd, alignment);
        for (size_t i = 0; i < kMostEmpty && state.objects.meets(base.objects, place); i++)
          place += alignment;
      }
      put(index, state, place);
    }
  }

  /// The virtual bases that the class `root`, at `place`, has claimed: no bytes of their own.
  void putClaimed(TypeId root, uint64_t place, State& state) {
    for (const auto& [id, own] : claims_) {
      const auto& [by, offset] = *own.begin();
      const size_t index = indexOf(id);
      if (by != root || index == bases_.size() || state.places[index] != kUnplaced) continue;
      state.places[index] = place + offset;
      state.objects.take(bases_[index].objects, place + offset);
      putClaimed(id, place + offset, state);
    }
  }

  void put(size_t index, State state, uint64_t place) {
    const Base& base = bases_[index];
    state.places[index] = place;
    state.objects.take(base.objects, place);
    putClaimed(type_.virtualBases[index], place, state);
    if (base.empty) {
      state.end = std::max(state.end, place + base.size);
      return go(index + 1, state);
    }
    for (const uint64_t size : base.sizes) {
      State next = state;
      next.dataEnd = std::max(next.dataEnd, place + size);
      next.end = std::max(next.end, place + size);
      go(index + 1, next);
    }
  }

  const TypeTable& table_;
  const Type& type_;
  uint64_t alignment_ = 1;
  int ways_ = 0, steps_ = 0;
  std::vector<Base> bases_;
  /// Virtual bases that lie at the start of something: of a virtual base, or of one that is not (kNoType),
  /// so many bytes from its or from the class's start.
  std::map<TypeId, std::set<std::pair<TypeId, uint64_t>>> claims_;
  std::set<std::vector<uint64_t>> found_;
};

}  // namespace

Emptiness emptinessOf(const TypeTable& table, TypeId type) {
  int steps = 0;
  return emptiness(table, type, steps);
}

uint64_t leastNonVirtualSize(const TypeTable& table, const Type& type) {
  int steps = 0;
  return leastSize(table, type, steps);
}

uint64_t nonVirtualSize(const TypeTable& table, const Type& type) {
  uint64_t size = hasVtablePointer(table, type) ? table.target().pointer : 0;
  for (const Member& member : type.members) {
    if (member.role == Member::Role::virtualBase) continue;
    const bool empty = member.role == Member::Role::base && member.size == 0;
    size = std::max(size, empty ? member.offset + table.sizeOf(member.type).value_or(0) : endOf(member));
  }
  return size;
}

uint64_t leastDataEnd(const TypeTable& table, const Type& type) {
  return *dataEnds(table, type).begin();
}

std::optional<std::vector<uint64_t>> placesOfVirtualBases(const TypeTable& table, const Type& type) {
  if (!type.size || type.virtualBases.empty()) return std::nullopt;
  // Where an incomplete one ends is not known, if nothing lies behind it.
  const auto last = std::max_element(type.members.begin(), type.members.end(),
                                     [](const Member& a, const Member& b) { return a.offset < b.offset; });
  if (last != type.members.end() && last->incomplete) return std::nullopt;
  return Placer(table, type).place();
}

}  // namespace cacheline::types
