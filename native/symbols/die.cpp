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

}  // namespace cacheline::symbols
