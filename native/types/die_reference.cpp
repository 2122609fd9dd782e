// Opens the file that a reference leads into; libdw keeps it.
#include "types/die_reference.h"

#include <dwarf.h>

namespace cacheline::types {

std::optional<Dwarf_Die> dieAt(Dwarf* dwarf, const DieReference& reference) {
  using Section = DieReference::Section;
  Dwarf* file = dwarf;
  if (reference.section == Section::supplement) {
    file = dwarf_getalt(dwarf);
  } else if (reference.section == Section::splitInfo || reference.section == Section::splitTypes) {
    Dwarf_Die skeleton{}, split{};
    if (dwarf_offdie(dwarf, reference.skeleton, &skeleton) == nullptr || skeleton.cu == nullptr ||
        dwarf_cu_info(skeleton.cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) != 0 ||
        split.cu == nullptr)
      return std::nullopt;
    file = dwarf_cu_getdwarf(split.cu);
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
