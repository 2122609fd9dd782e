// The parameters and local variables of functions, for a hover over them.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cacheline::layouts {

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
