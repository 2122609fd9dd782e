// Sections by name, through the handle that libdw has open.
#include "symbols/raw_sections.h"

#include <gelf.h>

namespace cacheline::symbols {

Bytes plainSection(Elf* elf, std::string_view name) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_COMPRESSED) != 0) continue;
    const char* is = elf_strptr(elf, names, header.sh_name);
    if (is == nullptr || is != name) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const uint8_t*>(data->d_buf), data->d_size};
  }
  return {};
}

}  // namespace cacheline::symbols
