// From the inside out, each type once.
#include "layouts/natural_alignment.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "types/type_reader.h"

namespace cacheline::layouts {

using types::Kind;
using types::Type;
using types::TypeId;
using types::TypeTable;

namespace {

constexpr uint64_t kLargestScalar = 16;
constexpr uint64_t kLargestVector = 256;  ///< of Arm's SVE

class Aligner {
 public:
  explicit Aligner(const TypeTable& table) : table_(table) {}

  std::optional<uint64_t> of(TypeId id, int depth) {
    if (id == types::kUnreadType || depth > types::kDeepestNesting) return std::nullopt;
    const Type& type = table_[id];
    const uint64_t stated = std::bit_floor(type.alignment);
    if (stated != 0 && (!types::isAggregate(type.kind) || type.alignmentIsExact)) return stated;
    switch (type.kind) {
      case Kind::typedefOf:
      case Kind::constOf:
      case Kind::volatileOf:
      case Kind::restrictOf:
        return of(type.target, depth + 1);
      case Kind::array:
        if (type.vector) return std::bit_ceil(std::clamp<uint64_t>(sizeOf(id), 1, kLargestVector));
        return of(type.target, depth + 1);
      case Kind::atomicOf: {
        // C11's atomics are aligned to their size where that is 1, 2, 4, 8 or 16.
        const uint64_t size = sizeOf(type.target);
        const auto own = of(type.target, depth + 1);
        return own && std::has_single_bit(size) && size <= kLargestScalar ? std::max(*own, size) : own;
      }
      case Kind::structure:
      case Kind::classType:
      case Kind::unionType:
        return ofStructure(id, type, depth);
      case Kind::function:  // Go's are pointers, and have a size
        return type.size ? table_.target().pointer : 1;
      case Kind::memberPointer:
        return table_.target().pointer;
      default: {
        const uint64_t size = sizeOf(id) / (type.complexNumber ? 2 : 1);
        const uint64_t natural = std::bit_floor(std::clamp<uint64_t>(size, 1, kLargestScalar));
        return size < kLargestScalar ? std::min(natural, table_.target().largestScalar) : natural;
      }
    }
  }

 private:
  uint64_t sizeOf(TypeId id) const { return table_.sizeOf(id).value_or(0); }

  std::optional<uint64_t> ofStructure(TypeId id, const Type& type, int depth) {
    if (!type.size || type.declaration || type.basesUnknown) return std::nullopt;
    // None while it is looked at: a type that holds itself is a lie.
    const auto [known, isNew] = known_.try_emplace(id, std::nullopt);
    return isNew ? known_[id] = ofMembers(type, depth) : known->second;
  }

  std::optional<uint64_t> ofMembers(const Type& type, int depth) {
    const uint64_t stated = std::bit_floor(type.alignment);
    uint64_t largest = std::max<uint64_t>(stated, 1), end = 0;
    bool gap = false;  // in front of a member whose alignment does not explain it
    bool bits = false;
    for (const types::Member& member : type.members) {
      const auto own = of(member.type, depth + 1);
      if (!own) return std::nullopt;
      const uint64_t asked = std::max<uint64_t>(*own, std::bit_floor(member.alignment));
      // The place of a virtual base is not known, but its alignment is.
      if (member.located && !(member.bitSize != 0 ? fits(member, asked) : member.offset % asked == 0))
        return std::nullopt;
      if (member.located && !bits && member.bitSize == 0) gap |= member.offset >= end + asked;
      largest = std::max(largest, asked);
      bits |= member.bitSize != 0;
      end = std::max(end, types::endOf(member));
    }
    for (const TypeId base : type.virtualBases) {
      const auto own = of(base, depth + 1);
      if (!own) return std::nullopt;
      largest = std::max(largest, *own);
    }
    // Less than its members ask for is only stated of a packed one.
    if (gap || *type.size % largest != 0 || (stated != 0 && stated < largest)) return std::nullopt;
    const bool isTailKnown = type.virtualBases.empty() && !bits && end != 0;
    return isTailKnown && *type.size >= end + largest ? std::nullopt : std::optional(largest);
  }

  /// A bit-field's storage unit is computed, so it is aligned; only packed ones reach out of it.
  static bool fits(const types::Member& member, uint64_t alignment) {
    return member.bitOffset % (alignment * 8) + uint64_t{member.bitSize} <= member.size * 8;
  }

  const TypeTable& table_;
  std::unordered_map<TypeId, std::optional<uint64_t>> known_;
};

}  // namespace

std::optional<uint64_t> alignmentOf(const TypeTable& table, TypeId type) {
  return Aligner(table).of(type, 0);
}

uint64_t arrayCookie(const TypeTable& table, TypeId type) {
  return std::max<uint64_t>(sizeof(uint64_t), alignmentOf(table, type).value_or(1));
}

}  // namespace cacheline::layouts
