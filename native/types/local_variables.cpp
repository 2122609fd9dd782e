// One walk over the functions of a unit.
#include "types/local_variables.h"

#include <dwarf.h>

#include "symbols/die.h"
#include "symbols/die_scan.h"
#include "symbols/line_table.h"

namespace cacheline::types {

std::vector<DeclaredLocal> localVariables(Dwarf_Die unit, const std::string& folder, const std::string& file,
                                          std::set<std::pair<uint32_t, std::string>>& seen) {
  symbols::FileTable files(unit, folder);
  std::vector<DeclaredLocal> found;
  size_t functions = 0;
  const auto isWanted = [](int tag) {
    switch (tag) {
      case DW_TAG_namespace:
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_subprogram:
      case DW_TAG_lexical_block:
      case DW_TAG_variable:
      case DW_TAG_formal_parameter:
        return true;
      default:
        return false;
    }
  };
  std::vector<bool> open;
  symbols::DieScan(unit).walk(
      isWanted,
      [&](symbols::DieScan::Here& here) {
        if (here.tag != DW_TAG_variable && here.tag != DW_TAG_formal_parameter) {
          open.push_back(here.tag == DW_TAG_subprogram);
          functions += open.back() ? 1 : 0;
          return true;
        }
        if (functions == 0) return false;
        const auto line = symbols::unsignedAttribute(here.die, DW_AT_decl_line);
        const auto number = symbols::unsignedAttribute(here.die, DW_AT_decl_file);
        const char* name = symbols::stringAttribute(here.die, DW_AT_name);
        if (!line || *line > UINT32_MAX || !number || name == nullptr || files.name(*number) != file)
          return false;
        if (seen.emplace(static_cast<uint32_t>(*line), name).second)
          found.push_back({name, static_cast<uint32_t>(*line), here.die});
        return false;
      },
      [&](Dwarf_Off) {
        functions -= open.back() ? 1 : 0;
        open.pop_back();
      });
  return found;
}

}  // namespace cacheline::types
