// The parameters and local variables of one source file, for a hover over them.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cacheline::types {

struct DeclaredLocal {
  std::string name;
  uint32_t line = 0;
  Dwarf_Die die{};
};

/// Those declared in `file`, as DWARF names it, by the functions of one unit; inlined copies are left out.
/// `folder`: where relative names of files begin. Each declaration (line and name) once: `seen` is what was
/// found before, and gets what is found now.
std::vector<DeclaredLocal> localVariables(Dwarf_Die unit, const std::string& folder, const std::string& file,
                                          std::set<std::pair<uint32_t, std::string>>& seen);

}  // namespace cacheline::types
