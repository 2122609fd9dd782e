// Attribute access that never looks past the DIE itself (libdw's *_integrate functions do).
#include "symbols/die.h"

namespace cacheline::symbols {

const char* stringAttribute(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  return dwarf_attr(&die, name, &attribute) == nullptr ? nullptr : dwarf_formstring(&attribute);
}

std::optional<uint64_t> unsignedAttribute(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0)
    return std::nullopt;
  return value;
}

std::optional<Dwarf_Die> referenceAttribute(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Die target;
  if (dwarf_attr(&die, name, &attribute) == nullptr || dwarf_formref_die(&attribute, &target) == nullptr)
    return std::nullopt;
  return target;
}

std::optional<Dwarf_Die> completion(Dwarf_Die& die) {
  if (auto origin = referenceAttribute(die, DW_AT_abstract_origin)) return origin;
  return referenceAttribute(die, DW_AT_specification);
}

int languageOf(Dwarf_Die die) {
  Dwarf_Die unit;
  return dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr ? -1 : dwarf_srclang(&unit);
}

uint8_t addressSizeOf(Dwarf_Die die) {
  Dwarf_Die unit;
  uint8_t size = 0;
  return dwarf_diecu(&die, &unit, &size, nullptr) == nullptr ? uint8_t{0} : size;
}

bool isQualifier(int tag) {
  return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
         tag == DW_TAG_atomic_type;
}

std::optional<Dwarf_Die> unqualified(Dwarf_Die type, bool typedefs) {
  for (int hop = 0; hop < kLongestReferenceChain; hop++) {
    const int tag = dwarf_tag(&type);
    if (!isQualifier(tag) && !(typedefs && tag == DW_TAG_typedef)) return type;
    const auto target = referenceAttribute(type, DW_AT_type);
    if (!target) break;
    type = *target;
  }
  return std::nullopt;
}

std::optional<uint64_t> dimensionLength(Dwarf_Die& range) {
  if (const auto count = unsignedAttribute(range, DW_AT_count)) return count;
  const auto upper = unsignedAttribute(range, DW_AT_upper_bound);
  if (!upper) return std::nullopt;
  // DWARF 5, table 7.17: the lowest index is 0 in the C family, Rust and Go; Fortran and Ada begin at 1.
  Dwarf_Sword lowest = 0;
  dwarf_default_lower_bound(languageOf(range), &lowest);
  const uint64_t lower = unsignedAttribute(range, DW_AT_lower_bound).value_or(static_cast<uint64_t>(lowest));
  // An empty array ends at -1, which g++ writes as a word of the target.
  return (*upper - lower + 1) & (addressSizeOf(range) == 4 ? UINT32_MAX : UINT64_MAX);
}

}  // namespace cacheline::symbols
