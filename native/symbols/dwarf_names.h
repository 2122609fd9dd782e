// Readable, qualified names of functions and variables from DWARF.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <unordered_map>

#include "symbols/dwarf_units.h"

namespace cacheline::symbols {

class Names {
 public:
  explicit Names(Units& units) : units_(units) {}
  /// The demangled linkage name where there is one: `ns::Class::bump(Counter*)`, with parameters, so that
  /// overloads differ. Else DW_AT_name in its scopes: `main`, `ns::Class::member`; a variable inside a
  /// function is `function()::counter`. Empty where DWARF has no name. Stays valid as long as this object.
  const std::string& of(Dwarf_Die die);

 private:
  std::string make(Dwarf_Die die, int nesting);
  std::string scopePrefix(Dwarf_Die die, int nesting);
  Units& units_;
  std::unordered_map<const void*, std::string> known_;  ///< by the DIE's place in memory, unique across files
};

}  // namespace cacheline::symbols
