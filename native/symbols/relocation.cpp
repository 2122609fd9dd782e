// RELA sections, applied entry by entry; every offset is checked against the section's bytes.
#include "symbols/relocation.h"

#include <cstring>
#include <string>

#include "base/error.h"
#include "symbols/inflate.h"

namespace cacheline::symbols {
namespace {

/// What one kind of relocation writes.
struct Kind {
  uint8_t bytes = 0;      ///< 0: nothing
  bool relative = false;  ///< to the place that is written
};

std::optional<Kind> kindOf(uint16_t machine, uint32_t type) {
  if (machine == EM_X86_64) {
    switch (type) {
      case R_X86_64_NONE:
      case R_X86_64_DTPOFF32:  // in a thread's own storage: no address
      case R_X86_64_DTPOFF64:
        return Kind{};
      case R_X86_64_64:
        return Kind{8, false};
      case R_X86_64_32:
      case R_X86_64_32S:
        return Kind{4, false};
      case R_X86_64_PC64:
        return Kind{8, true};
      case R_X86_64_PC32:
      case R_X86_64_PLT32:
        return Kind{4, true};
      default:
        return std::nullopt;
    }
  }
  switch (type) {
    case R_AARCH64_NONE:
    case R_AARCH64_TLS_DTPREL:
      return Kind{};
    case R_AARCH64_ABS64:
      return Kind{8, false};
    case R_AARCH64_ABS32:
      return Kind{4, false};
    case R_AARCH64_PREL64:
      return Kind{8, true};
    case R_AARCH64_PREL32:
      return Kind{4, true};
    default:
      return std::nullopt;
  }
}

bool isKnownMachine(const ElfFile& file) {
  return file.format == ElfFormat{} &&
         (file.header.e_machine == EM_X86_64 || file.header.e_machine == EM_AARCH64);
}

/// Of the symbol that a relocation names, 0 where its table has no such entry.
uint64_t valueOf(const ElfFile& file, const ElfSection& relocations, uint64_t symbol) {
  if (relocations.header.sh_link >= file.sections.size()) return 0;
  const ElfSection& table = file.sections[relocations.header.sh_link];
  if (symbol == 0 || symbol >= file.symbolCount(table)) return 0;
  const Elf64_Sym entry = file.symbol(table, symbol);
  return entry.st_shndx == SHN_UNDEF ? kElsewhere : entry.st_value;
}

}  // namespace

Relocations::Relocations(const ElfFile& file)
    : file_(file), known_(isKnownMachine(file)), left_(file.bytes.size()) {
  for (const ElfSection& section : file.sections)
    if (known_ && section.header.sh_type == SHT_RELA) tables_.try_emplace(section.header.sh_info, &section);
}

std::optional<uint32_t> Relocations::apply(uint32_t section, std::span<uint8_t> bytes) {
  std::optional<uint32_t> unknown;
  const auto table = tables_.find(section);
  if (table == tables_.end() || table->second->bytes.size() > left_) return unknown;
  left_ -= table->second->bytes.size();
  const uint64_t address = file_.sections[section].header.sh_addr;
  const Bytes entries = table->second->bytes;
  for (size_t at = 0; entries.size() - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
    Elf64_Rela entry;
    std::memcpy(&entry, entries.data() + at, sizeof entry);
    const auto type = static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info));
    const auto kind = kindOf(file_.header.e_machine, type);
    if (!kind && !unknown) unknown = type;
    if (!kind || kind->bytes == 0) continue;
    if (entry.r_offset > bytes.size() || bytes.size() - entry.r_offset < kind->bytes) continue;
    uint64_t value =
        valueOf(file_, *table->second, ELF64_R_SYM(entry.r_info)) + static_cast<uint64_t>(entry.r_addend);
    if (kind->relative) value -= address + entry.r_offset;
    std::memcpy(bytes.data() + entry.r_offset, &value, kind->bytes);  // little-endian, as this machine is
  }
  return unknown;
}

void relocateDebugInfo(Elf* elf, const ElfFile& file) {
  Relocations relocations(file);
  if (!relocations.known())
    throw Error(ErrorKind::unreadable, "it is not linked, and that of " + machineName(file.header.e_machine) +
                                           " cannot be read before it is");
  for (uint32_t i = 0; i < file.sections.size(); ++i) {
    const bool isGnu = file.sections[i].name.starts_with(".zdebug_");
    if (!isGnu && !file.sections[i].name.starts_with(".debug_")) continue;
    Elf_Scn* section = elf_getscn(elf, i);
    if (section == nullptr || !inflateZlib(section, isGnu)) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    if (const auto unknown = relocations.apply(i, {static_cast<uint8_t*>(data->d_buf), data->d_size}))
      throw Error(ErrorKind::unreadable,
                  "it is not linked, and has relocations of the unknown kind " + std::to_string(*unknown));
  }
}

}  // namespace cacheline::symbols
