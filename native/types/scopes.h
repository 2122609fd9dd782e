// What encloses a type: the namespaces, classes and functions in front of its name.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "symbols/dwarf_index.h"
#include "symbols/scope_tree.h"

namespace cacheline::types {

/// The scopes of a unit are read in one walk, on the first question about it, or taken from `dwarf`.
class Scopes {
 public:
  /// `dwarf` may be null: it saves the walk over units whose functions it knows.
  explicit Scopes(const symbols::DwarfIndex* dwarf = nullptr) : dwarf_(dwarf) {}
  /// `ns::Outer::`, `work(int)::`; empty where the DIE is at the top of its unit.
  std::string prefixOf(Dwarf_Die die);
  /// The name of a type with its scopes, tidied; empty: anonymous. What a definition leaves out is at its
  /// declaration (DW_AT_specification).
  std::string nameOf(Dwarf_Die die);

 private:
  struct UnitScopes {
    const symbols::ScopeTree* tree = nullptr;
    std::optional<symbols::ScopeTree> own;
    std::unordered_map<uint32_t, std::string> prefixes;  ///< by scope
  };
  UnitScopes& of(const Dwarf_Die& die);
  /// `inside`: any DIE of the unit.
  const std::string& prefixOf(UnitScopes& scopes, uint32_t id, Dwarf_Die inside);
  const symbols::DwarfIndex* dwarf_;
  std::unordered_map<Dwarf_CU*, UnitScopes> units_;
  int nesting_ = 0;  ///< declarations on the way to the outermost scope
};

/// What one scope puts in front of the names in it; `whole` where it already says the scopes around it.
struct ScopeName {
  std::string text;
  bool whole = false;
};
ScopeName scopeName(Dwarf_Die die);

/// `Pool<Worker, 64>` of `Pool<Worker, 64ul>`, `a<b<c>>` of `a<b<c> >`: compilers write template arguments in
/// their own ways.
std::string tidyTemplateName(std::string_view name);

}  // namespace cacheline::types
