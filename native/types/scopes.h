// What encloses a type: the namespaces, classes and functions in front of its name.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "symbols/child_lists.h"
#include "symbols/dwarf_index.h"
#include "symbols/scope_tree.h"
#include "types/template_names.h"

namespace cacheline::types {

struct ScopeName {
  std::string text;
  bool whole = false;  ///< it already says the scopes around it
};

/// The scopes of a unit are read in one walk, on the first question about it, or taken from `dwarf`.
class Scopes {
 public:
  /// `nameOfType`: of the types that are template arguments. `dwarf` may be null: it saves the walk over
  /// units whose functions it knows.
  explicit Scopes(NameOfType nameOfType, const symbols::DwarfIndex* dwarf = nullptr)
      : nameOfType_(std::move(nameOfType)), dwarf_(dwarf) {}
  /// `ns::Outer::`, `work(int)::`; empty where the DIE is at the top of its unit.
  std::string prefixOf(Dwarf_Die die);
  /// The name of a type with its scopes, tidied; empty: anonymous. What a definition leaves out is at its
  /// declaration (DW_AT_specification).
  std::string nameOf(Dwarf_Die die);
  /// "<int, 4>" where the class's own name leaves its arguments out; else empty.
  std::string argumentsOf(Dwarf_Die die) const { return templateArguments(die, nameOfType_); }
  /// `typedef struct {...} name`: the first typedef in the scope of a type without a name that is of it. It
  /// is the same whoever asks.
  std::optional<Dwarf_Die> aliasOf(const Dwarf_Die& die);
  /// What one scope puts in front of the names in it.
  ScopeName scopeName(Dwarf_Die die) const;

 private:
  using Aliases = std::unordered_map<const void*, Dwarf_Die>;  ///< by the place in memory of what they are of
  struct UnitScopes {
    const symbols::ScopeTree* tree = nullptr;
    std::optional<symbols::ScopeTree> own;
    std::unordered_map<uint32_t, std::string> prefixes;  ///< by scope
    std::unordered_map<uint32_t, Aliases> aliases;       ///< the same
  };
  UnitScopes& of(const Dwarf_Die& die);
  /// `inside`: any DIE of the unit.
  const std::string& prefixOf(UnitScopes& scopes, uint32_t id, Dwarf_Die inside);

  NameOfType nameOfType_;
  const symbols::DwarfIndex* dwarf_;
  std::unordered_map<Dwarf_CU*, UnitScopes> units_;
  static constexpr uint64_t kMostBytes = uint64_t{1} << 30;  ///< as many as a thousand large units have
  symbols::ChildLists typedefs_{kMostBytes};
  int nesting_ = 0;  ///< declarations on the way to the outermost scope
};

/// `Pool<Worker, 64>` of `Pool<Worker, 64ul>`, `a<b<c>>` of `a<b<c> >`: compilers write template arguments in
/// their own ways.
std::string tidyTemplateName(std::string_view name);

}  // namespace cacheline::types
