// It reads what TypeTable::nameOf() and sizeOf() would, but keeps nothing beyond the unit: of 500 units that
// have a header, all but one are forgotten.
#include "types/type_hashes.h"

#include <dwarf.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "symbols/die.h"
#include "types/raw_entry.h"
#include "types/type.h"
#include "types/written_names.h"

namespace cacheline::types {
namespace {

enum Qualifier : unsigned { kConst = 1, kVolatile = 2, kRestrict = 4, kAtomic = 8 };

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

/// The signature of the type unit that a DIE is in; 0: it is in another unit.
uint64_t signatureOf(const Dwarf_Die& die) {
  uint8_t kind = 0;
  uint64_t signature = 0;
  if (dwarf_cu_info(die.cu, nullptr, &kind, nullptr, nullptr, &signature, nullptr, nullptr) != 0) return 0;
  return kind == DW_UT_type || kind == DW_UT_split_type ? signature : 0;
}

/// Bytes of DIEs to go over: honest units have those of members' types some times at most, those of other
/// units that dwz moved some of them to included.
uint64_t mostBytes(Dwarf_CU* unit) {
  constexpr uint64_t kLeast = 1 << 12, kTimes = 16;
  Dwarf_Die root{};
  if (dwarf_cu_info(unit, nullptr, nullptr, &root, nullptr, nullptr, nullptr, nullptr) != 0) return kLeast;
  return kLeast + kTimes * symbols::DieScan(root).bytes();
}

}  // namespace

/// What one pass over the attributes of a DIE finds.
struct TypeHashes::Facts {
  std::string_view name;
  uint64_t size = 0, signature = 0;
  uint64_t place = kHashStart;  ///< of a member
  std::optional<Dwarf_Die> type, specification;

  explicit Facts(Dwarf_Die& die) {
    if (dwarf_getattrs(&die, add, this, 0) == 1 && waiting_) read(*waiting_);
  }

 private:
  /// libdw looks whether an attribute's bytes are there when it goes on to the next one.
  static int add(Dwarf_Attribute* attribute, void* facts) {
    auto& self = *static_cast<Facts*>(facts);
    if (self.waiting_) self.read(*self.waiting_);
    self.waiting_ = *attribute;
    return DWARF_CB_OK;
  }
  static std::optional<Dwarf_Die> target(Dwarf_Attribute& attribute) {
    Dwarf_Die die;
    return dwarf_formref_die(&attribute, &die) != nullptr ? std::optional(die) : std::nullopt;
  }
  void read(Dwarf_Attribute& attribute) {
    const unsigned what = dwarf_whatattr(&attribute);
    Dwarf_Word value = 0;
    switch (what) {
      case DW_AT_name:
        if (const char* text = dwarf_formstring(&attribute)) name = text;
        break;
      case DW_AT_type:
        type = target(attribute);
        break;
      case DW_AT_specification:
        specification = target(attribute);
        break;
      case DW_AT_signature:
        if (dwarf_whatform(&attribute) == DW_FORM_ref_sig8)
          std::memcpy(&signature, attribute.valp, sizeof signature);
        break;
      case DW_AT_byte_size:
        if (dwarf_formudata(&attribute, &value) == 0) size = value;
        break;
      case DW_AT_data_member_location:
      case DW_AT_bit_size:
      case DW_AT_bit_offset:
      case DW_AT_data_bit_offset:
        if (dwarf_formudata(&attribute, &value) == 0) place = mix(mix(place, what), value);
        break;
      default:
        break;
    }
  }

  std::optional<Dwarf_Attribute> waiting_;
};

TypeHashes::TypeHashes(Dwarf_CU* unit, NameHash nameOf)
    : unit_(unit), nameOf_(std::move(nameOf)), children_(mostBytes(unit)) {}

uint64_t TypeHashes::of(const Dwarf_Die& type) {
  const Hash hash = of(type, 0, 0);
  return mix(hash.name, hash.size);
}

TypeHashes::Hash TypeHashes::of(const Dwarf_Die& type, unsigned qualifiers, int depth) {
  const uint64_t key = mix(reinterpret_cast<uintptr_t>(type.addr), qualifiers);
  // What is met while it is read is a loop, which honest types have only through names.
  const auto [known, isNew] = known_.try_emplace(key);
  if (!isNew || depth > kDeepestNesting) return known->second;
  return known_[key] = make(type, qualifiers, depth + 1);
}

TypeHashes::Hash TypeHashes::make(Dwarf_Die die, unsigned qualifiers, int depth) {
  const int tag = dwarf_tag(&die);
  const Facts facts(die);
  const auto target = [&](unsigned its) { return facts.type ? of(*facts.type, its, depth) : Hash{}; };
  if (const unsigned qualifier = qualifierOf(tag)) return target(qualifiers | qualifier);
  const uint64_t scoped = facts.name.empty() ? 0 : nameOf_(die);
  Hash hash{scoped != 0 ? scoped : mix(kHashStart, facts.name), facts.size};
  switch (tag) {
    case DW_TAG_typedef:
    case DW_TAG_template_alias:
      hash.size = target(0).size;
      break;
    case DW_TAG_array_type: {
      // Compilers disagree on whether an array or its elements are const: here they are.
      const uint64_t lengths = dimensions(die);
      hash = target(qualifiers);
      return {mix(hash.name, lengths), mix(hash.size, lengths)};
    }
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_ptr_to_member_type:
      if (facts.name.empty()) hash.name = mix(static_cast<uint64_t>(tag), target(0).name);
      break;
    case DW_TAG_subroutine_type:
      hash.name = mix(target(0).name, parameters(die, depth));
      break;
    case DW_TAG_base_type:
      hash.name = mix(kHashStart, squeezedName(facts.name));
      break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type:
      // Where a type unit defines it, it goes by the name there: other units may only declare it.
      if (facts.signature != 0)
        if (const auto defined = symbols::referenceAttribute(die, DW_AT_signature))
          return of(*defined, qualifiers, depth);
      if (const uint64_t signature = die.cu != unit_ ? signatureOf(die) : facts.signature;
          signature != 0 && scoped == 0)
        hash = {signature, 0};
      else if (facts.specification)
        hash.name = of(*facts.specification, 0, depth).name;
      else if (facts.name.empty() && tag != DW_TAG_enumeration_type)
        hash.name = mix(static_cast<uint64_t>(tag), contents(die, depth));
      // Another unit may only declare it.
      if (tag != DW_TAG_enumeration_type && (!facts.name.empty() || facts.specification)) hash.size = 0;
      break;
    default:
      break;
  }
  if (qualifiers != 0) hash.name = mix(hash.name, qualifiers);
  return hash;
}

uint64_t TypeHashes::dimensions(const Dwarf_Die& array) {
  uint64_t hash = kHashStart;
  children_.walk(array, symbols::ChildLists::any, [&](Dwarf_Die& range) {
    std::optional<uint64_t> count = symbols::unsignedAttribute(range, DW_AT_count);
    if (const auto last = count ? std::nullopt : symbols::unsignedAttribute(range, DW_AT_upper_bound))
      count = *last + 1;
    hash = mix(hash, count.value_or(UINT64_MAX));
    return false;
  });
  return hash;
}

/// A structure without a name is shown with what is in it.
uint64_t TypeHashes::contents(const Dwarf_Die& structure, int depth) {
  uint64_t hash = kHashStart;
  children_.walk(structure, symbols::ChildLists::any, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_variant_part || tag == DW_TAG_variant) return true;
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) return false;
    const Facts member(child);
    hash = mix(mix(hash, member.name), member.place);
    if (member.type) {
      const Hash type = of(*member.type, 0, depth);
      hash = mix(mix(hash, type.name), type.size);
    }
    return false;
  });
  return hash;
}

uint64_t TypeHashes::parameters(const Dwarf_Die& function, int depth) {
  uint64_t hash = kHashStart;
  children_.walk(function, symbols::ChildLists::any, [&](Dwarf_Die& child) {
    const Facts parameter(child);
    hash = mix(hash, static_cast<uint64_t>(dwarf_tag(&child)));
    if (parameter.type) hash = mix(hash, of(*parameter.type, 0, depth).name);
    return false;
  });
  return hash;
}

}  // namespace cacheline::types
