// What encloses a type: the namespaces, classes and functions in front of its name.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "types/template_names.h"

namespace cacheline::types {

struct ScopeName {
  std::string text;
  bool whole = false;  ///< it already says the scopes around it
};

/// libdw has no way from a DIE to its parent: the scopes of a unit are read in one walk, on the first
/// question about it.
class Scopes {
 public:
  /// `nameOfType`: of the types that are template arguments.
  explicit Scopes(NameOfType nameOfType) : nameOfType_(std::move(nameOfType)) {}
  /// `ns::Outer::`, `work(int)::`; empty where the DIE is at the top of its unit.
  std::string prefixOf(Dwarf_Die die);
  /// The name of a type with its scopes, tidied; empty: anonymous. What a definition leaves out is at its
  /// declaration (DW_AT_specification).
  std::string nameOf(Dwarf_Die die);
  /// "<int, 4>" where the class's own name leaves its arguments out; else empty.
  std::string argumentsOf(Dwarf_Die die) const { return templateArguments(die, nameOfType_); }
  /// What one scope puts in front of the names in it.
  ScopeName scopeName(Dwarf_Die die) const;

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
  NameOfType nameOfType_;
  std::unordered_map<Dwarf_CU*, UnitScopes> units_;
  int nesting_ = 0;  ///< declarations on the way to the outermost scope
};

/// `Pool<Worker, 64>` of `Pool<Worker, 64ul>`, `a<b<c>>` of `a<b<c> >`: compilers write template arguments in
/// their own ways.
std::string tidyTemplateName(std::string_view name);

}  // namespace cacheline::types
