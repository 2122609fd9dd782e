// Hashes are made as the index makes those of the unit that it reads.
#include "types/unit_names.h"

#include <dwarf.h>

#include <algorithm>
#include <string>

#include "symbols/die_scan.h"
#include "types/raw_entry.h"

namespace cacheline::types {
namespace {

bool hasName(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_typedef:
    case DW_TAG_enumeration_type:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
      return true;
    default:
      return false;
  }
}

}  // namespace

uint64_t UnitNames::of(const Dwarf_Die& die) {
  const auto [unit, isNew] = units_.try_emplace(die.cu);
  if (isNew) unit->second = read(die.cu);
  const Named& named = unit->second;
  const auto at = std::lower_bound(named.begin(), named.end(), std::pair<const void*, uint64_t>{die.addr, 0});
  return at != named.end() && at->first == die.addr ? at->second : 0;
}

UnitNames::Named UnitNames::read(Dwarf_CU* unit) {
  Named named;
  Dwarf_Die root{};
  uint8_t kind = 0;
  if (dwarf_cu_info(unit, nullptr, &kind, &root, nullptr, nullptr, nullptr, nullptr) != 0) return named;
  if (kind == DW_UT_type || kind == DW_UT_split_type) return named;  // their signatures tell
  symbols::DieScan scan(root);
  const RawReader reader(scan, root);
  std::vector<uint64_t> scopes{kHashStart};
  const auto enter = [&](const symbols::DieScan::Here& here) {
    std::string name;
    if (here.tag == DW_TAG_subprogram || here.tag == DW_TAG_lexical_block) {
      const auto own = reader.scopeName(here);
      if (!own) return false;
      name = *own;
    } else {
      const RawEntry found = reader.read(here);
      name = found.name;
      if (!name.empty() && isAggregateTag(here.tag)) name += names_.argumentsOf(found.die);
      const bool isType = here.tag != DW_TAG_namespace && here.tag != DW_TAG_module;
      if (isType && !name.empty() && !found.specified)
        named.emplace_back(here.die.addr, mix(scopes.back(), std::string_view(name)));
    }
    if (here.tag == DW_TAG_typedef || here.tag == DW_TAG_enumeration_type) return false;
    scopes.push_back(mix(scopes.back(), std::string_view(name)));
    return true;
  };
  scan.walk(hasName, enter, [&](Dwarf_Off) { scopes.pop_back(); });
  return named;
}

}  // namespace cacheline::types
