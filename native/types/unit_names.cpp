// A unit is read for its names with one scan over what has them.
#include "types/unit_names.h"

#include <dwarf.h>

#include <algorithm>
#include <deque>
#include <string>

#include "symbols/die.h"
#include "symbols/die_scan.h"

namespace cacheline::types {
namespace {

using symbols::DieScan;

/// Type units whose classes enclose each other: deeper than any program's they are a lie.
constexpr int kDeepestUnits = 64;

}  // namespace

bool hasNames(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_typedef:
    case DW_TAG_enumeration_type:
      return true;
    default:
      return isAggregateTag(tag);
  }
}

uint64_t UnitNames::open(RawEntry& type) {
  uint64_t name = 0;
  if (type.specified && (name = of(type.target)) == 0) {
    if (const auto declaration = symbols::referenceAttribute(type.die, DW_AT_specification))
      if (declaration->cu != type.die.cu) name = others_->of(*declaration);
  } else if (type.declared && type.target != nullptr) {
    if (const auto defined = symbols::referenceAttribute(type.die, DW_AT_signature))
      name = others_->of(*defined);
  }
  if (name == 0) name = mix(outer(), type.name);
  if (!type.name.empty() || type.target != nullptr) dies_.emplace_back(type.die.addr, name);
  scopes_.push_back(name);
  return name;
}

void UnitNames::add(const RawEntry& type) {
  if (!type.name.empty()) dies_.emplace_back(type.die.addr, mix(outer(), type.name));
}

uint64_t UnitNames::of(const void* place) const {
  const auto at = std::lower_bound(dies_.begin(), dies_.end(), std::pair<const void*, uint64_t>{place, 0});
  return at != dies_.end() && at->first == place ? at->second : 0;
}

uint64_t NameHashes::of(const Dwarf_Die& die) {
  if (die.cu == nullptr) return 0;
  const auto [known, isNew] = units_.try_emplace(die.cu, *this);
  UnitNames& names = known->second;
  if (isNew && depth_ < kDeepestUnits) {
    depth_++;
    read(die.cu, names);
    depth_--;
  }
  return names.of(die.addr);
}

void NameHashes::read(Dwarf_CU* unit, UnitNames& names) {
  Dwarf_Die root{};
  if (dwarf_cu_info(unit, nullptr, nullptr, &root, nullptr, nullptr, nullptr, nullptr) != 0) return;
  std::deque<std::string> rebuilt;
  DieScan scan(root);
  const RawReader reader(scan, root);
  scan.walk(
      hasNames,
      [&](const DieScan::Here& here) {
        switch (here.tag) {
          case DW_TAG_namespace:
          case DW_TAG_module:
            names.open(reader.read(here).name);
            return true;
          case DW_TAG_subprogram:
          case DW_TAG_lexical_block: {
            const auto name = reader.scopeName(here);
            if (name) names.open(*name);
            return name.has_value();
          }
          case DW_TAG_typedef:
          case DW_TAG_enumeration_type:
            names.add(reader.read(here));
            return false;
          default: {
            RawEntry type = reader.read(here);
            if (!type.name.empty())
              if (const std::string arguments = scopes_.argumentsOf(type.die); !arguments.empty())
                type.name = rebuilt.emplace_back(std::string(type.name) + arguments);
            names.open(type);
            return true;
          }
        }
      },
      [&](Dwarf_Off) { names.close(); });
}

}  // namespace cacheline::types
