// Sections by name, through the handle that libdw has open.
#include "symbols/raw_sections.h"

#include <dwarf.h>
#include <gelf.h>

#include <bit>

namespace cacheline::symbols {
namespace {

/// The first section of which `is` holds. Where the last answer was is asked first: all units of a file have
/// the same one, and an object file may have very many of both.
template <typename Is>
Elf_Scn* sectionWhere(Elf* elf, size_t& last, Is is) {
  if (Elf_Scn* known = last != 0 ? elf_getscn(elf, last) : nullptr; known != nullptr && is(known))
    return known;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    if (!is(section)) continue;
    last = elf_ndxscn(section);
    return section;
  }
  return nullptr;
}

Bytes bytesOf(Elf_Scn* section) {
  const Elf_Data* data = section != nullptr ? elf_rawdata(section, nullptr) : nullptr;
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const uint8_t*>(data->d_buf), data->d_size};
}

bool isOfAbbreviations(std::string_view name) {
  for (const std::string_view one :
       {".debug_abbrev", ".zdebug_abbrev", ".debug_abbrev.dwo", ".zdebug_abbrev.dwo",
        ".gnu.debuglto_.debug_abbrev", ".gnu.debuglto_.debug_abbrev.dwo"})
    if (name == one) return true;
  return false;
}

}  // namespace

Bytes abbreviationSection(Elf* elf) {
  static thread_local size_t last = 0;
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return {};
  return bytesOf(sectionWhere(elf, last, [&](Elf_Scn* section) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & (SHF_GROUP | SHF_COMPRESSED)) != 0)
      return false;
    const char* name = elf_strptr(elf, names, header.sh_name);
    return name != nullptr && isOfAbbreviations(name) && !bytesOf(section).empty();
  }));
}

uint64_t roomBehind(Elf* elf, const uint8_t* place) {
  static thread_local size_t last = 0;
  const auto before = [place](Elf_Scn* section) {
    return reinterpret_cast<uintptr_t>(place) - reinterpret_cast<uintptr_t>(bytesOf(section).data());
  };
  Elf_Scn* section = sectionWhere(elf, last, [&](Elf_Scn* one) { return before(one) < bytesOf(one).size(); });
  return section != nullptr ? bytesOf(section).size() - before(section) : 0;
}

Bytes plainSection(Elf* elf, std::string_view name) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_COMPRESSED) != 0) continue;
    const char* is = elf_strptr(elf, names, header.sh_name);
    if (is == nullptr || is != name) continue;
    return bytesOf(section);
  }
  return {};
}

std::optional<ElfFormat> linkedFormat(Elf* elf) {
  GElf_Ehdr header;
  if (gelf_getehdr(elf, &header) == nullptr || header.e_type == ET_REL) return std::nullopt;
  return ElfFormat{true,
                   (header.e_ident[EI_DATA] == ELFDATA2MSB) != (std::endian::native == std::endian::big)};
}

UnitLists unitLists(Dwarf_Die die, std::string_view section) {
  UnitLists found;
  Dwarf_Die unit{};
  uint8_t addressSize = 0, offsetSize = 0, kind = 0;
  Dwarf_Half version = 0;
  // A .dwo file counts from elsewhere.
  if (die.cu == nullptr || dwarf_diecu(&die, &unit, &addressSize, &offsetSize) == nullptr ||
      addressSize != sizeof(uint64_t) ||
      dwarf_cu_info(die.cu, &version, &kind, nullptr, nullptr, nullptr, nullptr, nullptr) != 0 ||
      kind == DW_UT_split_compile)
    return found;
  Elf* elf = dwarf_getelf(dwarf_cu_getdwarf(die.cu));
  const auto format = linkedFormat(elf);
  if (!format) return found;
  found.format = *format;
  found.offsetSize = offsetSize;
  const bool has = dwarf_hasattr(&unit, DW_AT_low_pc) == 1;
  if (version == 5 &&
      (has ? dwarf_lowpc(&unit, &found.base) == 0 : dwarf_hasattr(&unit, DW_AT_entry_pc) != 1))
    found.lists = plainSection(elf, section);
  return found;
}

}  // namespace cacheline::symbols
