// Field by field from the file's class and byte order. The 32-bit and 64-bit structures name their fields
// alike.
#include "symbols/elf_format.h"

#include <type_traits>

namespace cacheline::symbols {
namespace {

template <typename Raw>
Raw rawAt(const uint8_t* at) {
  Raw raw;
  std::memcpy(&raw, at, sizeof raw);
  return raw;
}

}  // namespace

void ElfFormat::convert(const uint8_t* at, Elf64_Ehdr& out) const {
  const auto fill = [&](const auto& raw) {
    std::memcpy(out.e_ident, raw.e_ident, EI_NIDENT);
    out.e_type = order(raw.e_type);
    out.e_machine = order(raw.e_machine);
    out.e_version = order(raw.e_version);
    out.e_entry = order(raw.e_entry);
    out.e_phoff = order(raw.e_phoff);
    out.e_shoff = order(raw.e_shoff);
    out.e_flags = order(raw.e_flags);
    out.e_ehsize = order(raw.e_ehsize);
    out.e_phentsize = order(raw.e_phentsize);
    out.e_phnum = order(raw.e_phnum);
    out.e_shentsize = order(raw.e_shentsize);
    out.e_shnum = order(raw.e_shnum);
    out.e_shstrndx = order(raw.e_shstrndx);
  };
  wide ? fill(rawAt<Elf64_Ehdr>(at)) : fill(rawAt<Elf32_Ehdr>(at));
}

void ElfFormat::convert(const uint8_t* at, Elf64_Phdr& out) const {
  const auto fill = [&](const auto& raw) {
    out.p_type = order(raw.p_type);
    out.p_flags = order(raw.p_flags);
    out.p_offset = order(raw.p_offset);
    out.p_vaddr = order(raw.p_vaddr);
    out.p_paddr = order(raw.p_paddr);
    out.p_filesz = order(raw.p_filesz);
    out.p_memsz = order(raw.p_memsz);
    out.p_align = order(raw.p_align);
  };
  wide ? fill(rawAt<Elf64_Phdr>(at)) : fill(rawAt<Elf32_Phdr>(at));
}

void ElfFormat::convert(const uint8_t* at, Elf64_Shdr& out) const {
  const auto fill = [&](const auto& raw) {
    out.sh_name = order(raw.sh_name);
    out.sh_type = order(raw.sh_type);
    out.sh_flags = order(raw.sh_flags);
    out.sh_addr = order(raw.sh_addr);
    out.sh_offset = order(raw.sh_offset);
    out.sh_size = order(raw.sh_size);
    out.sh_link = order(raw.sh_link);
    out.sh_info = order(raw.sh_info);
    out.sh_addralign = order(raw.sh_addralign);
    out.sh_entsize = order(raw.sh_entsize);
  };
  wide ? fill(rawAt<Elf64_Shdr>(at)) : fill(rawAt<Elf32_Shdr>(at));
}

void ElfFormat::convert(const uint8_t* at, Elf64_Sym& out) const {
  const auto fill = [&](const auto& raw) {
    out.st_name = order(raw.st_name);
    out.st_info = raw.st_info;
    out.st_other = raw.st_other;
    out.st_shndx = order(raw.st_shndx);
    out.st_value = order(raw.st_value);
    out.st_size = order(raw.st_size);
  };
  wide ? fill(rawAt<Elf64_Sym>(at)) : fill(rawAt<Elf32_Sym>(at));
}

void ElfFormat::convert(const uint8_t* at, Elf64_Dyn& out) const {
  const auto fill = [&](const auto& raw) {
    out.d_tag = order(raw.d_tag);
    out.d_un.d_val = order(raw.d_un.d_val);
  };
  wide ? fill(rawAt<Elf64_Dyn>(at)) : fill(rawAt<Elf32_Dyn>(at));
}

void ElfFormat::convert(const uint8_t* at, Elf64_Nhdr& out) const {
  const auto raw = rawAt<Elf64_Nhdr>(at);
  out.n_namesz = order(raw.n_namesz);
  out.n_descsz = order(raw.n_descsz);
  out.n_type = order(raw.n_type);
}

}  // namespace cacheline::symbols
