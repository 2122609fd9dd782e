// Opens the file that a reference leads into; libdw keeps it.
#include "types/die_reference.h"

#include <dwarf.h>

namespace cacheline::types {

std::optional<Dwarf_Die> dieAt(symbols::DwarfIndex& index, const DieReference& reference) {
  using Section = DieReference::Section;
  Dwarf* const dwarf = index.handle();
  Dwarf* file = dwarf;
  if (reference.section == Section::supplement) {
    file = dwarf_getalt(dwarf);
  } else if (reference.section == Section::splitInfo || reference.section == Section::splitTypes) {
    Dwarf_Die skeleton{};
    if (dwarf_offdie(dwarf, reference.skeleton, &skeleton) == nullptr || skeleton.cu == nullptr)
      return std::nullopt;
    const auto split = index.splitUnits().of(skeleton);
    if (!split) return std::nullopt;
    file = dwarf_cu_getdwarf(split->cu);
  }
  if (file == nullptr) return std::nullopt;
  const bool types = reference.section == Section::types || reference.section == Section::splitTypes;
  Dwarf_Die die{};
  const Dwarf_Die* found =
      types ? dwarf_offdie_types(file, reference.offset, &die) : dwarf_offdie(file, reference.offset, &die);
  if (found == nullptr || die.cu == nullptr) return std::nullopt;
  return die;
}

}  // namespace cacheline::types
