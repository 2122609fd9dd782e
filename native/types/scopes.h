// What encloses a type: the namespaces, classes and functions in front of its name.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace cacheline::types {

/// libdw has no way from a DIE to its parent: the scopes of a unit are read in one walk, on the first
/// question about it.
class Scopes {
 public:
  /// `ns::Outer::`, `work(int)::`; empty where the DIE is at the top of its unit.
  std::string prefixOf(Dwarf_Die die);
  /// The name of a type with its scopes, tidied; empty: anonymous. What a definition leaves out is at its
  /// declaration (DW_AT_specification).
  std::string nameOf(Dwarf_Die die);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Scope {
    Dwarf_Off begin = 0, end = 0;  ///< of its DIE and all that is inside
    uint32_t parent = kNone;
    Dwarf_Die die{};
    bool named = false;  ///< `prefix` is made
    std::string prefix;
  };
  using UnitScopes = std::vector<Scope>;  ///< ascending by begin
  UnitScopes& of(Dwarf_CU* cu);
  const std::string& prefixOf(UnitScopes& scopes, uint32_t id);
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
