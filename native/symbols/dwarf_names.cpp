// A name may be on the DIE itself, on its abstract origin or on its declaration: the chain is followed,
// bounded.
#include "symbols/dwarf_names.h"

#include "symbols/die.h"
#include "symbols/module.h"

namespace cacheline::symbols {

const std::string& Names::of(Dwarf_Die die) {
  auto known = known_.find(die.addr);
  if (known != known_.end()) return known->second;
  // All copies of an inlined function share their origin's name.
  if (dwarf_hasattr(&die, DW_AT_linkage_name) != 1)
    if (auto origin = referenceAttribute(die, DW_AT_abstract_origin)) die = *origin;
  known = known_.find(die.addr);
  if (known != known_.end()) return known->second;
  std::string name = make(die, 0);
  return known_.emplace(die.addr, std::move(name)).first->second;
}

std::string Names::make(Dwarf_Die die, int nesting) {
  const char* plain = nullptr;
  Dwarf_Die declaration = die;
  for (int hop = 0; hop < kLongestReferenceChain; hop++) {
    const char* linkage = stringAttribute(declaration, DW_AT_linkage_name);
    if (linkage == nullptr) linkage = stringAttribute(declaration, DW_AT_MIPS_linkage_name);
    if (linkage != nullptr)
      if (std::string readable = demangle(linkage); readable != linkage) return readable;
    if (plain == nullptr) plain = stringAttribute(declaration, DW_AT_name);
    const auto next = completion(declaration);
    if (!next) break;
    declaration = *next;
  }
  if (plain == nullptr) return {};
  return scopePrefix(declaration, nesting) + plain;
}

std::string Names::scopePrefix(Dwarf_Die die, int nesting) {
  Unit* unit = units_.of(die);
  if (unit == nullptr) return {};
  std::string prefix;
  const ScopeTree& scopes = unit->functions().scopes();
  for (uint32_t id = scopes.around(dwarf_dieoffset(&die)); id != ScopeTree::kNone; id = scopes[id].parent) {
    Dwarf_Die scope = unit->dieAt(scopes[id].begin);
    const int tag = dwarf_tag(&scope);
    const char* name = stringAttribute(scope, DW_AT_name);
    switch (tag) {
      case DW_TAG_namespace:
      case DW_TAG_module:
        prefix.insert(0, std::string(name != nullptr ? name : "(anonymous namespace)") + "::");
        break;
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_interface_type:
        prefix.insert(0, std::string(name != nullptr ? name : "(anonymous)") + "::");
        break;
      case DW_TAG_subprogram:
      case DW_TAG_inlined_subroutine: {
        // The function's own name says the scopes around it. Nested functions nest their names a few levels
        // at most.
        std::string function = nesting < kLongestReferenceChain ? make(scope, nesting + 1) : std::string();
        if (function.find('(') == std::string::npos) function += "()";
        return function + "::" + prefix;
      }
      default:
        break;  // a block has no name
    }
  }
  return prefix;
}

}  // namespace cacheline::symbols
