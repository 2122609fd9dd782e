// Walks over the raw DIEs of a unit.
#include "layouts/unindexed.h"

#include <dwarf.h>

#include <algorithm>
#include <optional>

#include "symbols/die.h"
#include "symbols/die_scan.h"
#include "symbols/file_table.h"
#include "types/raw_entry.h"
#include "types/written_names.h"

namespace cacheline::layouts {
namespace {

bool isPlain(int tag) {
  return tag == DW_TAG_typedef || tag == DW_TAG_template_alias || tag == DW_TAG_enumeration_type ||
         tag == DW_TAG_base_type;
}

bool isScope(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
         tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

}  // namespace

void forEachPlainType(Dwarf_Die unit, std::string_view component,
                      const std::function<void(const Dwarf_Die&)>& each) {
  symbols::DieScan scan(unit);
  const types::RawReader reader(scan, unit);
  scan.walk([](int tag) { return isPlain(tag) || isScope(tag); },
            [&](const symbols::DieScan::Here& here) {
              if (isScope(here.tag)) return true;
              const types::RawEntry entry = reader.read(here);
              if (!entry.declared &&
                  types::fitOfName(component, types::squeezedName(entry.name)) >= types::NameFit::shortened)
                each(entry.die);
              return false;
            },
            [](Dwarf_Off) {});
}

std::vector<DeclaredLocal> localVariables(Dwarf_Die unit, const std::string& folder,
                                          const std::function<bool(const std::string&)>& wanted) {
  symbols::FileTable files(unit, folder);
  std::vector<char> taken(files.size());
  for (uint64_t i = 0; i < taken.size(); i++) taken[i] = wanted(files.name(i)) ? 1 : 0;
  std::vector<DeclaredLocal> found;
  if (std::find(taken.begin(), taken.end(), 1) == taken.end()) return found;
  symbols::DieScan scan(unit);
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
  struct Open {
    bool function = false;
    Dwarf_Die die{};
  };
  std::vector<Open> open;
  // Go says the file only once, of the function.
  const auto fileOfFunction = [&]() -> std::optional<uint64_t> {
    const auto function =
        std::find_if(open.rbegin(), open.rend(), [](const Open& one) { return one.function; });
    return function == open.rend() ? std::nullopt
                                   : symbols::unsignedAttribute(function->die, DW_AT_decl_file);
  };
  scan.walk(
      isWanted,
      [&](symbols::DieScan::Here& here) {
        if (here.tag != DW_TAG_variable && here.tag != DW_TAG_formal_parameter) {
          open.push_back({here.tag == DW_TAG_subprogram, here.die});
          functions += open.back().function ? 1 : 0;
          return true;
        }
        if (functions == 0) return false;
        std::optional<uint64_t> number;
        scan.forEachAttribute(here, [&](const symbols::DieScan::Raw& raw) {
          if (raw.name == DW_AT_decl_file) number = scan.valueOf(raw);
        });
        if (!number) number = fileOfFunction();
        if (!number || *number >= taken.size() || taken[*number] == 0) return false;
        const auto line = symbols::unsignedAttribute(here.die, DW_AT_decl_line);
        const char* name = symbols::stringAttribute(here.die, DW_AT_name);
        if (line && *line <= UINT32_MAX && name != nullptr)
          found.push_back({name, files.name(*number), static_cast<uint32_t>(*line), here.die});
        return false;
      },
      [&](Dwarf_Off) {
        functions -= open.back().function ? 1 : 0;
        open.pop_back();
      });
  return found;
}

}  // namespace cacheline::layouts
