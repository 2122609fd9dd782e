// One walk over the raw DIEs of a unit.
#include "layouts/plain_types.h"

#include <dwarf.h>

#include "symbols/die_scan.h"
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

}  // namespace cacheline::layouts
