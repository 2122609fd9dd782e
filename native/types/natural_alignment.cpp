// Alignment from the inside out, within bounds.
#include "types/natural_alignment.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>
#include <vector>

#include "types/type_reader.h"

namespace cacheline::types {
namespace {

constexpr uint64_t kLargestScalar = 16;
constexpr uint64_t kLargestVector = 256;  ///< of Arm's SVE
constexpr uint64_t kPointer = 8;          ///< bytes of a vtable pointer

/// The largest power of two that divides `value`; of 0: any.
uint64_t divisor(uint64_t value) {
  return value == 0 ? ~uint64_t{0} : uint64_t{1} << std::countr_zero(value);
}

class Aligner {
 public:
  explicit Aligner(const TypeTable& table) : table_(table) {}

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
        case Kind::function:
          return 1;
        case Kind::memberPointer:
          return std::max<uint64_t>(stated, 8);
        default: {
          const uint64_t whole = type.size ? *type.size : table_.sizeOf(id).value_or(1);
          const uint64_t size = type.complexNumber ? whole / 2 : whole;
          const uint64_t natural = std::min(std::bit_floor(std::max<uint64_t>(size, 1)), kLargestScalar);
          return std::max(stated, natural);
        }
      }
    }
    return std::max<uint64_t>(stated, 1);
  }

 private:
  /// Without virtual bases, which lie elsewhere in the complete object.
  uint64_t ofBase(TypeId id, int depth) {
    const Type& type = table_[table_.strip(id)];
    // What gcc states includes that of virtual bases.
    uint64_t largest = type.virtualBases.empty() ? std::max<uint64_t>(type.alignment, 1) : kPointer;
    const auto [known, isNew] = asBase_.try_emplace(id, largest);
    if (!isNew || depth >= kDeepestNesting) return known->second;
    for (const Member& member : type.members) {
      if (member.role == Member::Role::virtualBase) continue;
      const bool base = member.role == Member::Role::base;
      largest = std::max(largest, base ? ofBase(member.type, depth + 1) : of(member.type, depth + 1));
    }
    return asBase_[id] = largest;
  }

  uint64_t ofMembers(TypeId id, const Type& type, int depth) {
    // 1 while it is looked at: a type that holds itself is a lie.
    const auto [known, isNew] = known_.try_emplace(id, 1);
    if (!isNew) return known->second;
    uint64_t largest = 1, stated = type.alignment;
    bool packed = false;
    std::vector<std::pair<uint64_t, uint64_t>> places;  // offset and alignment
    for (const Member& member : type.members) {
      const uint64_t own = of(member.type, depth + 1);
      largest = std::max(largest, own);
      stated = std::max<uint64_t>(stated, member.alignment);
      if (!member.located) continue;
      // A bit-field's storage unit is computed, so it is aligned; only packed ones reach out of it.
      const bool base = member.role == Member::Role::base || member.role == Member::Role::virtualBase;
      if (member.bitSize == 0)
        places.emplace_back(member.offset, base ? ofBase(member.type, depth + 1) : own);
      else if (uint64_t{member.bitOffset} + member.bitSize > member.size * 8)
        packed = true;
    }
    // Where the largest alignment does not divide the size, or a member lies off its own, it is packed.
    uint64_t natural = packed ? 1 : std::min(largest, divisor(type.size.value_or(0)));
    for (const auto& [offset, own] : places)
      if (divisor(offset) < std::min(own, natural)) natural = divisor(offset);
    return known_[id] = std::max(natural, stated);
  }

  const TypeTable& table_;
  std::unordered_map<TypeId, uint64_t> known_, asBase_;  ///< of structures
};

}  // namespace

uint64_t naturalAlignment(const TypeTable& table, TypeId type) {
  return Aligner(table).of(type, 0);
}

}  // namespace cacheline::types
