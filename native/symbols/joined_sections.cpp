// Nothing in a .dwo file is relocated, and units say themselves how long they are: put one after the other,
// they are what other compilers write. libelf writes a file from the pieces of this one.
#include "symbols/joined_sections.h"

#include <fcntl.h>
#include <gelf.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "symbols/inflate.h"

namespace cacheline::symbols {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

/// By name; those of one name in the order of the file.
using SectionsByName = std::map<std::string_view, std::vector<Elf_Scn*>>;

SectionsByName splitSections(Elf* elf) {
  SectionsByName all;
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return all;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_PROGBITS) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && std::string_view(name).ends_with(".dwo")) all[name].push_back(section);
  }
  return all;
}

/// Of other names (macros) nobody needs more than the first.
bool areRepeated(const SectionsByName& sections) {
  for (const char* name : {".debug_info.dwo", ".debug_types.dwo", ".zdebug_info.dwo", ".zdebug_types.dwo"})
    if (const auto found = sections.find(name); found != sections.end() && found->second.size() > 1)
      return true;
  return false;
}

/// Bytes that inflating and joining make; more than `most`: at least so many.
uint64_t bytesToMake(Elf* elf, const SectionsByName& sections, uint64_t most) {
  uint64_t all = 0;
  const auto add = [&](uint64_t size) { all += std::min(size, most + 1 - std::min(all, most + 1)); };
  GElf_Shdr header;
  GElf_Chdr compression;
  const auto isCompressed = [&](Elf_Scn* section) {
    return gelf_getshdr(section, &header) != nullptr && (header.sh_flags & SHF_COMPRESSED) != 0;
  };
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;)
    if (isCompressed(section) && gelf_getchdr(section, &compression) != nullptr) add(compression.ch_size);
  for (const auto& [name, parts] : sections)
    for (Elf_Scn* part : parts)
      if (!isCompressed(part)) add(header.sh_size);
  return all;
}

/// Plain bytes; null where they cannot be had.
Elf_Data* plainBytes(Elf_Scn* section) {
  GElf_Shdr header;
  if (gelf_getshdr(section, &header) == nullptr ||
      ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0))
    return nullptr;
  return elf_rawdata(section, nullptr);
}

/// A section of `to` with all bytes of `parts`.
bool addSection(Elf* to, size_t name, const std::vector<Elf_Scn*>& parts, uint64_t& left) {
  Elf_Scn* section = elf_newscn(to);
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return false;
  header.sh_name = static_cast<GElf_Word>(name);
  header.sh_type = SHT_PROGBITS;
  for (Elf_Scn* part : parts) {
    const Elf_Data* from = plainBytes(part);
    Elf_Data* data = from != nullptr && from->d_size <= left ? elf_newdata(section) : nullptr;
    if (data == nullptr) return false;
    left -= from->d_size;
    data->d_buf = from->d_buf;
    data->d_size = from->d_size;
    data->d_type = ELF_T_BYTE;
    data->d_align = 1;
    data->d_version = EV_CURRENT;
  }
  return gelf_update_shdr(section, &header) != 0;
}

bool addNames(Elf* to, std::string& names) {
  Elf_Scn* section = elf_newscn(to);
  GElf_Ehdr file;
  GElf_Shdr header;
  Elf_Data* data = section != nullptr ? elf_newdata(section) : nullptr;
  if (data == nullptr || gelf_getshdr(section, &header) == nullptr || gelf_getehdr(to, &file) == nullptr)
    return false;
  header.sh_type = SHT_STRTAB;
  data->d_buf = names.data();
  data->d_size = names.size();
  data->d_align = 1;
  file.e_shstrndx = static_cast<GElf_Half>(elf_ndxscn(section));
  return gelf_update_shdr(section, &header) != 0 && gelf_update_ehdr(to, &file) != 0;
}

bool writeJoined(Elf* from, const SectionsByName& sections, int file, uint64_t& left) {
  std::string names(1, '\0');
  const ElfHandle to(elf_begin(file, ELF_C_WRITE, nullptr));
  GElf_Ehdr header, made;
  if (to == nullptr || gelf_getehdr(from, &header) == nullptr ||
      gelf_newehdr(to.get(), gelf_getclass(from)) == nullptr || gelf_getehdr(to.get(), &made) == nullptr)
    return false;
  made.e_ident[EI_DATA] = header.e_ident[EI_DATA];
  made.e_type = header.e_type;
  made.e_machine = header.e_machine;
  made.e_version = EV_CURRENT;
  if (gelf_update_ehdr(to.get(), &made) == 0) return false;
  for (const auto& [name, parts] : sections) {
    const size_t at = names.size();
    names.append(name).push_back('\0');
    if (!addSection(to.get(), at, parts, left)) return false;
  }
  return addNames(to.get(), names) && elf_update(to.get(), ELF_C_WRITE) >= 0;
}

}  // namespace

JoinedSections joinSections(const std::string& path, uint64_t& left) {
  JoinedSections joined;
  InflatedSections inflated;
  elf_version(EV_CURRENT);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const ElfHandle elf(fd ? elf_begin(fd.get(), ELF_C_READ_MMAP_PRIVATE, nullptr) : nullptr);
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return joined;
  const SectionsByName sections = splitSections(elf.get());
  joined.needed = areRepeated(sections);
  // What GNU compressed in its own way cannot be put together.
  const auto isOld = [](const auto& entry) { return entry.first.starts_with(".z"); };
  if (!joined.needed || std::any_of(sections.begin(), sections.end(), isOld) ||
      bytesToMake(elf.get(), sections, left) > left)
    return joined;
  inflated = inflateZstd(elf.get());
  uint64_t rest = left;
  UniqueFd file(::memfd_create("cacheline-dwo", MFD_CLOEXEC));
  if (file && writeJoined(elf.get(), sections, file.get(), rest)) {
    joined.file = std::move(file);
    left = rest;
  }
  return joined;
}

}  // namespace cacheline::symbols
