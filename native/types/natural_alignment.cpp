// Alignment from the inside out, within bounds.
#include "types/natural_alignment.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>

#include "types/type_reader.h"

namespace cacheline::types {
namespace {

constexpr uint64_t kLargestScalar = 16;
constexpr uint64_t kLargestVector = 256;  ///< of Arm's SVE

/// The largest power of two that divides `value`; of 0: any.
uint64_t divisor(uint64_t value) {
  return value == 0 ? ~uint64_t{0} : uint64_t{1} << std::countr_zero(value);
}

/// A bit-field's storage unit is computed, so it is aligned; only packed ones reach out of it.
bool reachesOut(const Member& member, uint64_t alignment) {
  return member.bitOffset % (alignment * 8) + uint64_t{member.bitSize} > member.size * 8;
}

/// What the places of a structure's members say of its alignment. A member that lies off its own alignment is
/// packed, or all of the structure is. In that one no gap is wider than what it is packed to asks for.
struct Evidence {
  uint64_t divides = ~uint64_t{0};   ///< the largest alignment that its size allows
  uint64_t packedTo = ~uint64_t{0};  ///< what members that lie off their own alignment allow
  uint64_t gaps = 1;                 ///< what the gaps ask for
  uint64_t largest = 1, kept = 1;    ///< of all members; of those that lie on their own alignment

  /// `inPlace`: what its place must be divisible by.
  void add(uint64_t offset, uint64_t own, uint64_t inPlace, uint64_t end) {
    if (divisor(offset) < inPlace)
      pack(divisor(offset), own);
    else
      keep(own);
    gap(end, offset);
  }
  void addBits(const Member& member, uint64_t own) {
    if (reachesOut(member, own))
      pack(1, own);
    else
      keep(own);
  }
  void keep(uint64_t own) {
    largest = std::max(largest, own);
    if (own <= divides) kept = std::max(kept, own);
  }
  void gap(uint64_t end, uint64_t next) { gaps = std::max(gaps, asked(end, next)); }
  /// Of a member of which not all is known: its place asks for this much.
  void addOpen(uint64_t offset, uint64_t end) { keep(asked(end, offset)); }
  uint64_t alignment() const {
    if (packedTo >= std::min(largest, divides)) return std::min(largest, divides);
    return gaps <= packedTo ? std::min({largest, divides, packedTo}) : kept;
  }

 private:
  /// The least alignment for which a gap is between bytes that end and others that begin; 1: for any.
  static uint64_t asked(uint64_t end, uint64_t next) {
    if (next <= end) return 1;
    uint64_t least = 1;
    while (least < next && (end + least - 1) / least * least < next) least *= 2;
    return (end + least - 1) / least * least == next ? least : 1;
  }
  void pack(uint64_t to, uint64_t own) {
    packedTo = std::min(packedTo, to);
    largest = std::max(largest, own);
  }
};

class Aligner {
 public:
  explicit Aligner(const TypeTable& table, bool stated = true) : table_(table), stated_(stated) {}

  uint64_t of(TypeId id, int depth) {
    uint64_t stated = 0;
    // A typedef or qualifier may state one of its own.
    for (int hop = 0; hop < kDeepestNesting; hop++) {
      const Type& type = table_[id];
      stated = std::max<uint64_t>(stated, type.alignment);
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
            return std::max(stated, std::bit_ceil(std::min(table_.sizeOf(id).value_or(1), kLargestVector)));
          id = type.target;
          continue;
        case Kind::atomicOf: {
          // C11's atomics are aligned to their size where that is 1, 2, 4, 8 or 16.
          const uint64_t size = table_.sizeOf(type.target).value_or(0);
          if (std::has_single_bit(size) && size <= kLargestScalar) stated = std::max(stated, size);
          id = type.target;
          continue;
        }
        case Kind::structure:
        case Kind::classType:
        case Kind::unionType:
          if (type.alignmentIsExact) return stated;
          return std::max(stated, depth < kDeepestNesting ? ofMembers(id, type, depth) : 1);
        case Kind::function:  // Go's are pointers, and have a size
          return type.size ? table_.target().pointer : 1;
        case Kind::memberPointer:
          return std::max(stated, table_.target().pointer);
        default: {
          const uint64_t whole = type.size ? *type.size : table_.sizeOf(id).value_or(1);
          const uint64_t size = type.complexNumber ? whole / 2 : whole;
          const uint64_t natural = std::min(std::bit_floor(std::max<uint64_t>(size, 1)), kLargestScalar);
          return std::max(stated,
                          size < kLargestScalar ? std::min(natural, table_.target().largestScalar) : natural);
        }
      }
    }
    return std::max<uint64_t>(stated, 1);
  }

  bool metOpen() const { return open_ != 0; }

  /// Without virtual bases, which lie elsewhere in the complete object.
  uint64_t ofBase(const Type& type, int depth) {
    const auto [known, isNew] = asBase_.try_emplace(&type, Known{});
    if (!isNew || depth >= kDeepestNesting) return answer(known->second);
    const uint32_t before = open_;
    const bool all = type.virtualBases.empty();
    Evidence seen{all ? divisor(type.size.value_or(0)) : divisor(0)};
    uint64_t stated = all ? 1 : table_.target().pointer;
    if (all || stated_) stated = std::max<uint64_t>(stated, type.alignment);
    const auto end = addMembers(type, false, depth, seen, stated);
    if (all && end) seen.gap(*end, type.size.value_or(0));
    return (asBase_[&type] = {std::max(seen.alignment(), stated), open_ != before}).alignment;
  }

 private:
  struct Known {
    uint64_t alignment = 1;
    bool open = false;  ///< not all in it has a definition: it may be larger
  };
  uint64_t answer(const Known& known) {
    open_ += known.open ? 1 : 0;
    return known.alignment;
  }

  uint64_t ofMembers(TypeId id, const Type& type, int depth) {
    // 1 while it is looked at: a type that holds itself is a lie.
    const auto [known, isNew] = known_.try_emplace(id, Known{});
    if (!isNew) return answer(known->second);
    const uint32_t before = open_;
    const uint64_t size = type.size.value_or(0);
    Evidence seen{divisor(size)};
    uint64_t stated = type.alignment;
    if (const auto end = addMembers(type, true, depth, seen, stated)) seen.gap(*end, size);
    return (known_[id] = {std::max(seen.alignment(), stated), open_ != before}).alignment;
  }

  /// Where the last one ends; nullopt: that is not known, or says nothing.
  std::optional<uint64_t> addMembers(const Type& type, bool complete, int depth, Evidence& seen,
                                     uint64_t& stated) {
    uint64_t end = 0;
    bool known = type.kind != Kind::unionType;
    for (const Member& member : type.members) {
      const bool isVirtual = member.role == Member::Role::virtualBase;
      if (isVirtual && !complete) continue;
      const bool base = isVirtual || member.role == Member::Role::base;
      const uint32_t before = open_;
      open_ += member.incomplete ? 1 : 0;
      const uint64_t inPlace =
          base ? ofBase(table_[table_.strip(member.type)], depth + 1) : of(member.type, depth + 1);
      const uint64_t own = base && complete ? of(member.type, depth + 1) : inPlace;
      stated = std::max<uint64_t>(stated, member.alignment);
      if (!member.located)
        seen.keep(own);
      else if (member.bitSize != 0)
        seen.addBits(member, own);
      else
        seen.add(member.offset, own, inPlace, end);
      if (open_ != before && member.located && type.kind != Kind::unionType) seen.addOpen(member.offset, end);
      known &= member.located;
      if (type.kind != Kind::unionType) end = std::max(end, endOf(member));
    }
    return known ? std::optional(end) : std::nullopt;
  }

  const TypeTable& table_;
  bool stated_;  ///< whether what is stated of a class with virtual bases counts without them
  std::unordered_map<TypeId, Known> known_;
  std::unordered_map<const Type*, Known> asBase_;  ///< of structures
  uint32_t open_ = 0;                              ///< members without a definition that were met
};

}  // namespace

uint64_t naturalAlignment(const TypeTable& table, TypeId type) {
  return alignmentOf(table, type).bytes;
}

uint64_t arrayCookie(const TypeTable& table, TypeId type) {
  return std::max<uint64_t>(sizeof(uint64_t), naturalAlignment(table, type));
}

Alignment alignmentOf(const TypeTable& table, TypeId type) {
  Aligner aligner(table);
  const uint64_t bytes = aligner.of(type, 0);
  return {bytes, aligner.metOpen()};
}

uint64_t nonVirtualAlignment(const TypeTable& table, const Type& type, bool stated) {
  return Aligner(table, stated).ofBase(type, 0);
}

}  // namespace cacheline::types
