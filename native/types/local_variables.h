// The parameters and local variables of one source file, for a hover over them.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cacheline::types {

struct DeclaredLocal {
  std::string name;
  uint32_t line = 0;
  Dwarf_Die die{};
};

/// Those declared in `file`, as DWARF names it, by the functions of one unit; each declaration once, inlined
/// copies are left out.
std::vector<DeclaredLocal> localVariables(Dwarf_Die unit, const std::string& file);

}  // namespace cacheline::types
