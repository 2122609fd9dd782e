// What encloses what: libdw has no way from a DIE to its parent.
#include "symbols/scope_tree.h"

#include <algorithm>

namespace cacheline::symbols {

bool ScopeTree::isScope(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
      return true;
    default:
      return false;
  }
}

ScopeTree::ScopeTree(DieScan& unit) {
  std::vector<uint32_t> inside{kNone};
  unit.walk(
      isScope,
      [&](DieScan::Here& here) {
        inside.push_back(open(here.offset, inside.back()));
        return true;
      },
      [&](Dwarf_Off end) {
        close(inside.back(), end);
        inside.pop_back();
      });
}

uint32_t ScopeTree::open(Dwarf_Off begin, uint32_t parent) {
  scopes_.push_back({begin, UINT64_MAX, parent});
  return static_cast<uint32_t>(scopes_.size() - 1);
}

uint32_t ScopeTree::around(Dwarf_Off offset) const {
  const auto after = std::lower_bound(scopes_.begin(), scopes_.end(), offset,
                                      [](const Scope& scope, Dwarf_Off at) { return scope.begin < at; });
  auto id = static_cast<uint32_t>(after - scopes_.begin()) - 1;  // kNone where there is none before
  while (id != kNone && scopes_[id].end <= offset) id = scopes_[id].parent;
  return id;
}

}  // namespace cacheline::symbols
