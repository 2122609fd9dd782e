// It reads what TypeTable::nameOf() and sizeOf() would, but keeps nothing beyond the unit: of 500 units that
// have a header, all but one are forgotten.
#include "types/type_hashes.h"

#include <dwarf.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "symbols/die.h"
#include "types/type.h"
#include "types/written_names.h"

namespace cacheline::types {
namespace {

using symbols::DieScan;

/// What a type is asked with: qualifiers around it, and whether its name matters.
enum Asked : unsigned {
  kConst = 1,
  kVolatile = 2,
  kRestrict = 4,
  kAtomic = 8,
  kSizeOnly = 16,
  kAskedEnd = 32
};

unsigned qualifierOf(int tag) {
  switch (tag) {
    case DW_TAG_const_type:
    case DW_TAG_immutable_type:
      return kConst;
    case DW_TAG_volatile_type:
      return kVolatile;
    case DW_TAG_restrict_type:
      return kRestrict;
    case DW_TAG_atomic_type:
      return kAtomic;
    default:
      return 0;
  }
}

bool isPointer(int tag) {
  return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type ||
         tag == DW_TAG_ptr_to_member_type;
}

}  // namespace

TypeHashes::Unit::Unit(Dwarf_Die root, uint64_t* mostBytes) : scan(root, mostBytes), reader(scan, root) {
  uint8_t kind = 0;
  uint64_t own = 0;
  if (dwarf_cu_info(root.cu, nullptr, &kind, nullptr, nullptr, &own, nullptr, nullptr) != 0) return;
  if (kind == DW_UT_type || kind == DW_UT_split_type) signature = own;
}

/// What one pass over the attributes of a DIE finds.
struct TypeHashes::Facts {
  DieScan::Raw name, type, specification;  ///< without bytes: there is none
  uint64_t size = 0, signature = 0;
  uint64_t place = kHashStart;  ///< of a member

  Facts(const DieScan& unit, const DieScan::Here& here) {
    unit.forEachAttribute(here, [&](const DieScan::Raw& raw) {
      switch (raw.name) {
        case DW_AT_name:
          name = raw;
          break;
        case DW_AT_type:
          type = raw;
          break;
        case DW_AT_specification:
          specification = raw;
          break;
        case DW_AT_signature:
          if (raw.form == DW_FORM_ref_sig8) std::memcpy(&signature, raw.bytes, sizeof signature);
          break;
        case DW_AT_byte_size:
          size = unit.valueOf(raw).value_or(0);
          break;
        case DW_AT_data_member_location:
        case DW_AT_bit_size:
        case DW_AT_bit_offset:
        case DW_AT_data_bit_offset:
          if (const auto value = unit.valueOf(raw)) place = mix(mix(place, raw.name), *value);
          break;
        default:
          break;
      }
    });
  }
};

TypeHashes::TypeHashes(Dwarf_CU* unit, NameHash nameOf) : unit_(unit), nameOf_(std::move(nameOf)) {}

TypeHashes::Unit* TypeHashes::unitOf(Dwarf_CU* unit) {
  if (unit == nullptr) return nullptr;
  const auto known = units_.find(unit);
  if (known != units_.end()) return &known->second;
  Dwarf_Die root{};
  if (dwarf_cu_info(unit, nullptr, nullptr, &root, nullptr, nullptr, nullptr, nullptr) != 0) return nullptr;
  Unit& opened = units_.try_emplace(unit, root, &left_).first->second;
  constexpr uint64_t kTimes = 16;
  if (unit == unit_) left_ += kTimes * opened.scan.bytes();
  return &opened;
}

TypeHashes::TypeHash TypeHashes::of(const Dwarf_Die& type) {
  const Hash hash = of(type, 0, 0);
  return {mix(hash.name, hash.size), hash.structure};
}

TypeHashes::Hash TypeHashes::of(Unit& unit, const Here& here, const DieScan::Raw& reference, unsigned asked,
                                int depth) {
  if (reference.bytes == nullptr) return {};
  if (const auto target = unit.scan.targetOf(reference)) return of(*target, asked, depth);
  Dwarf_Die die = here.die;
  const auto target = symbols::referenceAttribute(die, reference.name);
  return target ? of(*target, asked, depth) : Hash{};
}

TypeHashes::Hash TypeHashes::of(const Dwarf_Die& type, unsigned asked, int depth) {
  const uint64_t key = reinterpret_cast<uintptr_t>(type.addr) * kAskedEnd + asked;
  // What is met while it is read is a loop, which honest types have only through names.
  const auto [known, isNew] = known_.try_emplace(key);
  if (!isNew || depth > kDeepestNesting) return known->second;
  Unit* unit = unitOf(type.cu);
  const auto here = unit != nullptr ? unit->scan.hereOf(type) : std::nullopt;
  if (!here) return {};
  return known_[key] = make(*unit, *here, asked, depth + 1);
}

TypeHashes::Hash TypeHashes::make(Unit& unit, const DieScan::Here& here, unsigned asked, int depth) {
  const Facts facts(unit.scan, here);
  const auto target = [&](unsigned its) { return of(unit, here, facts.type, its, depth); };
  if (const unsigned qualifier = qualifierOf(here.tag)) return target(asked | qualifier);
  Hash hash{0, facts.size, nullptr};
  switch (here.tag) {
    case DW_TAG_typedef:
    case DW_TAG_template_alias:
      hash = target(kSizeOnly);
      hash.name = nameHash(unit, here, facts);
      break;
    case DW_TAG_array_type: {
      // Compilers disagree on whether an array or its elements are const: here they are.
      const uint64_t lengths = dimensions(unit, here);
      hash = target(asked);
      return {mix(hash.name, lengths), mix(hash.size, lengths), hash.structure};
    }
    case DW_TAG_subroutine_type:
      hash.name = mix(target(0).name, parameters(unit, here, depth));
      break;
    case DW_TAG_base_type:
      if (facts.name.bytes != nullptr)
        hash.name = mix(kHashStart, squeezedName(unit.reader.text(here, facts.name)));
      break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type: {
      // Where a type unit defines it, it goes by the name there: other units may only declare it.
      if (facts.signature != 0) {
        Dwarf_Die die = here.die;
        if (const auto defined = symbols::referenceAttribute(die, DW_AT_signature))
          return of(*defined, asked, depth);
      }
      hash.name = nameHash(unit, here, facts);
      const bool enumeration = here.tag == DW_TAG_enumeration_type, named = hash.name != 0,
                 specified = facts.specification.bytes != nullptr;
      if (!enumeration) hash.structure = here.die.addr;
      if (const uint64_t signature = here.die.cu != unit_ ? unit.signature : facts.signature;
          signature != 0 && !named)
        hash = {signature, 0, hash.structure};
      else if (specified)
        hash.name = of(unit, here, facts.specification, 0, depth).name;
      else if (!named && !enumeration && (asked & kSizeOnly) == 0)
        hash.name = mix(static_cast<uint64_t>(here.tag), contents(unit, here, depth));
      // Another unit may only declare it.
      if (!enumeration && (named || specified)) hash.size = 0;
      break;
    }
    default:
      hash.name = nameHash(unit, here, facts);
      if (hash.name == 0 && isPointer(here.tag))
        hash.name = mix(static_cast<uint64_t>(here.tag), target(0).name);
      break;
  }
  if (const unsigned qualifiers = asked & ~kSizeOnly; qualifiers != 0) hash.name = mix(hash.name, qualifiers);
  return hash;
}

uint64_t TypeHashes::nameHash(const Unit& unit, const DieScan::Here& here, const Facts& facts) const {
  if (facts.name.bytes == nullptr) return 0;
  if (const uint64_t scoped = nameOf_(here.die)) return scoped;
  const std::string_view name = unit.reader.text(here, facts.name);
  return name.empty() ? 0 : mix(kHashStart, name);
}

template <typename Each>
void TypeHashes::forEachChild(Unit& unit, const DieScan::Here& parent, Each each) {
  unit.scan.walkBelow(
      parent.offset, [](int) { return true; }, each, [](Dwarf_Off) {});
}

uint64_t TypeHashes::dimensions(Unit& unit, const DieScan::Here& array) {
  uint64_t hash = kHashStart;
  forEachChild(unit, array, [&](const DieScan::Here& range) {
    uint64_t count = UINT64_MAX;
    unit.scan.forEachAttribute(range, [&](const DieScan::Raw& raw) {
      const bool last = raw.name == DW_AT_upper_bound;
      if (!last && raw.name != DW_AT_count) return;
      const auto value = unit.scan.valueOf(raw);
      if (!value) return;
      // The -1 of an array without elements may be of four bytes.
      const uint64_t mask = raw.form == DW_FORM_data4 ? UINT32_MAX : UINT64_MAX;
      count = last ? (*value + 1) & mask : *value;
    });
    hash = mix(hash, count);
    return false;
  });
  return hash;
}

/// A structure without a name is shown with what is in it.
uint64_t TypeHashes::contents(Unit& unit, const DieScan::Here& structure, int depth) {
  uint64_t hash = kHashStart;
  forEachChild(unit, structure, [&](const DieScan::Here& child) {
    if (child.tag == DW_TAG_variant_part || child.tag == DW_TAG_variant) return true;
    if (child.tag != DW_TAG_member && child.tag != DW_TAG_inheritance) return false;
    const Facts member(unit.scan, child);
    if (member.name.bytes != nullptr) hash = mix(hash, unit.reader.text(child, member.name));
    const Hash type = of(unit, child, member.type, 0, depth);
    hash = mix(mix(mix(hash, member.place), type.name), type.size);
    return false;
  });
  return hash;
}

uint64_t TypeHashes::parameters(Unit& unit, const DieScan::Here& function, int depth) {
  uint64_t hash = kHashStart;
  forEachChild(unit, function, [&](const DieScan::Here& child) {
    const Facts parameter(unit.scan, child);
    hash = mix(hash, static_cast<uint64_t>(child.tag));
    hash = mix(hash, of(unit, child, parameter.type, 0, depth).name);
    return false;
  });
  return hash;
}

}  // namespace cacheline::types
