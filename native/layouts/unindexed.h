// What the index leaves out, and a walk over one unit finds.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cacheline::layouts {

/// Calls `each` for the typedefs, enumerations and basic types of a unit, those in functions left out, that
/// are called `component` (squeezed, without scopes). A walk over all of the unit: for names that no
/// structure has.
void forEachPlainType(Dwarf_Die unit, std::string_view component,
                      const std::function<void(const Dwarf_Die&)>& each);

struct DeclaredLocal {
  std::string name, file;
  uint32_t line = 0;
  Dwarf_Die die{};
};

/// Those declared in files that `wanted(name)` takes, as DWARF names them, by the functions of one unit;
/// inlined copies are left out. `folder`: where relative names of files begin.
std::vector<DeclaredLocal> localVariables(Dwarf_Die unit, const std::string& folder,
                                          const std::function<bool(const std::string&)>& wanted);

}  // namespace cacheline::layouts
