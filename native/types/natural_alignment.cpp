// The alignments that are possible, from the inside out, within bounds.
#include "types/natural_alignment.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "types/type_reader.h"

namespace cacheline::types {
namespace {

constexpr uint64_t kLargestScalar = 16;
constexpr uint64_t kLargestVector = 256;  ///< of Arm's SVE

/// The alignments that a type may have: the sum of these powers of two. Never 0.
using Alignments = uint64_t;
constexpr Alignments kAny = ~Alignments{0};

constexpr Alignments upTo(uint64_t most) {
  return most | (most - 1);
}

constexpr Alignments from(uint64_t least) {
  return ~(least - 1);
}

uint64_t leastOf(Alignments all) {
  return uint64_t{1} << std::countr_zero(all);
}

/// Of what holds both.
Alignments largerOf(Alignments a, Alignments b) {
  return (a | b) & from(std::max(leastOf(a), leastOf(b)));
}

/// Those that are allowed; all where none is.
Alignments among(Alignments all, Alignments allowed) {
  return (all & allowed) != 0 ? all & allowed : all;
}

/// The largest power of two that divides `value`; of 0: any.
uint64_t divisor(uint64_t value) {
  return value == 0 ? std::bit_floor(kAny) : leastOf(value);
}

/// A bit-field's storage unit is computed, so it is aligned; only packed ones reach out of it.
bool reachesOut(const Member& member, uint64_t alignment) {
  return member.bitOffset % (alignment * 8) + uint64_t{member.bitSize} > member.size * 8;
}

/// What the places of a structure's members say of its alignment. One that lies off its own alignment shows
/// that something is packed, as does a size that is no multiple of it: all of the structure, to one byte
/// (`packed`) or to more (`#pragma pack`), or single members. DWARF does not say which. What is packed and
/// shows nowhere, as in {u64, u32, u32}, is taken for what is not. A gap asks for the alignment that leads to
/// it; those behind bit-fields ask for nothing: unnamed ones may be there. Packed members inside of
/// `#pragma pack` are not thought of, nor clang's bit-fields as wide as their type, which look like others.
class Evidence {
 public:
  explicit Evidence(uint64_t size) : divides_(divisor(size)) {}

  /// The next one. `own`: what its type asks for.
  void add(const Member& member, Alignments own) {
    const uint64_t stated = std::bit_floor(member.alignment);
    if (stated != 0) own = largerOf(own, stated);
    Alignments kept = own | stated;  // one that is packed may state what it is packed to
    if (member.bitSize != 0) {
      packed_ |= reachesOut(member, leastOf(own));
    } else {
      const uint64_t place = divisor(member.offset);
      if (leastOf(own) > place) packedTo_ = std::min(packedTo_, place);
      kept &= upTo(place);
      const uint64_t asked = gap(member.offset, own);
      if (asked <= stated) sureGaps_ = std::max(sureGaps_, asked);
      own = among(own, upTo(place) & from(asked));
    }
    all_ = largerOf(all_, own);
    kept_ |= kept;
    end_ = std::max(end_, endOf(member));
    behindBits_ = member.bitSize != 0;
  }
  /// One that lies elsewhere.
  void keep(Alignments own) {
    all_ = largerOf(all_, own);
    kept_ |= own;
  }
  void addTail(uint64_t size) { gap(size, all_); }

  /// `stated`: of the structure; 0: none. Less than its members ask for is only stated of a packed one.
  Alignments alignments(uint64_t stated) const {
    const uint64_t least = leastOf(all_);
    Alignments possible = all_;
    if (packed_ || std::min(packedTo_, divides_) < least || (stated != 0 && stated < least))
      possible = kept_ | (gaps_ <= packedTo_ ? upTo(std::min(std::bit_floor(all_), packedTo_)) : 0);
    possible &= upTo(divides_);
    if (stated != 0) possible = largerOf(possible, stated);
    // One that asks for more than a member's place allows may be an unnamed bit-field.
    return among(possible, from(gaps_ <= packedTo_ ? gaps_ : sureGaps_));
  }

 private:
  /// The least alignment that leads to a gap up to `next`; 1: there is none, or nothing of `own` asks for it.
  uint64_t gap(uint64_t next, Alignments own) {
    if (next <= end_ || behindBits_) return 1;
    uint64_t least = 1;
    while (least < next && (end_ + least - 1) / least * least < next) least *= 2;
    if ((end_ + least - 1) / least * least != next || least > own) return 1;
    gaps_ = std::max(gaps_, least);
    return least;
  }

  uint64_t divides_;          ///< the largest alignment that the size allows
  uint64_t packedTo_ = kAny;  ///< what members off their own alignment allow
  uint64_t gaps_ = 1;         ///< what the gaps ask for
  uint64_t sureGaps_ = 1;     ///< of members that state as much
  uint64_t end_ = 0;          ///< of the members so far
  bool behindBits_ = false;   ///< the last one is a bit-field
  bool packed_ = false;       ///< bit-fields reach out of their units, wherever `#pragma pack` is
  Alignments all_ = 1;        ///< what all members ask for
  Alignments kept_ = 1;       ///< what one of those asks for that lie on their own alignment
};

class Aligner {
 public:
  explicit Aligner(const TypeTable& table, bool stated = true) : table_(table), stated_(stated) {}

  Alignments of(TypeId id, int depth) {
    uint64_t least = 1;
    for (int hop = 0; hop < kDeepestNesting && id != kUnreadType; hop++) {
      const Type& type = table_[id];
      const uint64_t stated = std::bit_floor(type.alignment);
      // A typedef's may be less than its type's, too.
      if (stated != 0 && !isAggregate(type.kind)) return largerOf(stated, least);
      switch (type.kind) {
        case Kind::typedefOf:
        case Kind::constOf:
        case Kind::volatileOf:
        case Kind::restrictOf:
          id = type.target;
          continue;
        case Kind::array:
          // Above kLargestScalar that depends on the target: what gcc aligns to less shows by offsets and
          // sizes.
          if (type.vector)
            return largerOf(least, std::bit_ceil(std::min(table_.sizeOf(id).value_or(1), kLargestVector)));
          id = type.target;
          continue;
        case Kind::atomicOf: {
          // C11's atomics are aligned to their size where that is 1, 2, 4, 8 or 16.
          const uint64_t size = table_.sizeOf(type.target).value_or(0);
          if (std::has_single_bit(size) && size <= kLargestScalar) least = std::max(least, size);
          id = type.target;
          continue;
        }
        case Kind::structure:
        case Kind::classType:
        case Kind::unionType:
          return largerOf(least, depth < kDeepestNesting ? ofStructure(id, type, depth) : 1);
        case Kind::function:  // Go's are pointers, and have a size
          return type.size ? table_.target().pointer : 1;
        case Kind::memberPointer:
          return largerOf(least, table_.target().pointer);
        default: {
          const uint64_t whole = type.size ? *type.size : table_.sizeOf(id).value_or(1);
          const uint64_t size = type.complexNumber ? whole / 2 : whole;
          const uint64_t natural = std::min(std::bit_floor(std::max<uint64_t>(size, 1)), kLargestScalar);
          return largerOf(least,
                          size < kLargestScalar ? std::min(natural, table_.target().largestScalar) : natural);
        }
      }
    }
    return from(least);
  }

  /// Without virtual bases, which lie elsewhere in the complete object.
  Alignments ofBase(const Type& type, int depth) {
    if (!type.size) return kAny;
    const bool all = type.virtualBases.empty();
    if (all && type.alignmentIsExact) return std::bit_floor(type.alignment);
    const auto [known, isNew] = asBase_.try_emplace(&type, 1);
    if (!isNew || depth >= kDeepestNesting) return known->second;
    Evidence seen(all ? *type.size : 0);
    if (!all) seen.keep(table_.target().pointer);
    if (addMembers(type, false, depth, seen) && all) seen.addTail(*type.size);
    return asBase_[&type] = seen.alignments(all || stated_ ? std::bit_floor(type.alignment) : 0);
  }

 private:
  Alignments ofStructure(TypeId id, const Type& type, int depth) {
    if (!type.size) return kAny;
    const uint64_t stated = std::bit_floor(type.alignment);
    if (type.alignmentIsExact) return stated;
    // 1 while it is looked at: a type that holds itself is a lie.
    const auto [known, isNew] = known_.try_emplace(id, 1);
    if (!isNew) return known->second;
    Evidence seen(*type.size);
    if (addMembers(type, true, depth, seen)) seen.addTail(*type.size);
    return known_[id] = seen.alignments(stated);
  }

  /// False: not all of them have their places.
  bool addMembers(const Type& type, bool complete, int depth, Evidence& seen) {
    bool located = true;
    for (const Member& member : type.members) {
      const bool isVirtual = member.role == Member::Role::virtualBase;
      if (isVirtual && !complete) continue;
      const bool base = isVirtual || member.role == Member::Role::base;
      const Type& inner = table_[table_.strip(member.type)];
      if (member.located) seen.add(member, base ? ofBase(inner, depth + 1) : of(member.type, depth + 1));
      // Virtual bases of bases lie elsewhere.
      if (!member.located || (base && complete && !inner.virtualBases.empty()))
        seen.keep(of(member.type, depth + 1));
      located &= member.located;
    }
    return located;
  }

  const TypeTable& table_;
  bool stated_;  ///< whether what is stated of a class with virtual bases counts without them
  std::unordered_map<TypeId, Alignments> known_;
  std::unordered_map<const Type*, Alignments> asBase_;  ///< of structures
};

Alignment bounds(Alignments all) {
  return {leastOf(all), std::bit_floor(all)};
}

}  // namespace

Alignment alignmentOf(const TypeTable& table, TypeId type) {
  return bounds(Aligner(table).of(type, 0));
}

uint64_t arrayCookie(const TypeTable& table, TypeId type) {
  return std::max<uint64_t>(sizeof(uint64_t), alignmentOf(table, type).least);
}

Alignment nonVirtualAlignment(const TypeTable& table, const Type& type, bool stated) {
  return bounds(Aligner(table, stated).ofBase(type, 0));
}

}  // namespace cacheline::types
