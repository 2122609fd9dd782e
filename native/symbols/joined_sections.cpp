// Units say themselves how long they are: put one after the other, they are what linkers and other compilers
// write. libelf writes a file from the pieces of this one.
#include "symbols/joined_sections.h"

#include <fcntl.h>
#include <gelf.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/inflate.h"
#include "symbols/raw_sections.h"

namespace cacheline::symbols {
namespace {

struct Part {
  Elf_Scn* section;
  bool isGnu;  ///< ".zdebug_...": compressed in GNU's way
};
bool isOfGroup(const Part& part) {
  GElf_Shdr header;
  return gelf_getshdr(part.section, &header) != nullptr && (header.sh_flags & SHF_GROUP) != 0;
}
/// By the name of what is in them; those of one name in the order of the file.
using SectionsByName = std::map<std::string, std::vector<Part>, std::less<>>;

/// `split`: those of a .dwo file; else of an object file.
SectionsByName debugSections(Elf* elf, bool split) {
  SectionsByName all;
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return all;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_PROGBITS) continue;
    const char* start = elf_strptr(elf, names, header.sh_name);
    const std::string_view name = start != nullptr ? start : "";
    const bool isGnu = name.starts_with(".zdebug_");
    if (name.ends_with(".dwo") == split && (isGnu || name.starts_with(".debug_")))
      all[isGnu ? "." + std::string(name.substr(2)) : std::string(name)].push_back({section, isGnu});
  }
  return all;
}

/// Of other names (macros) nobody needs more than the first.
bool areRepeated(const SectionsByName& sections) {
  for (const char* name : {".debug_info.dwo", ".debug_types.dwo", ".debug_info", ".debug_types"})
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
    for (const Part& part : parts) {
      if (part.isGnu)
        add(gnuInflatedSize(part.section).value_or(0));
      else if (!isCompressed(part.section))
        add(header.sh_size);
    }
  return all;
}

/// A section of `to` with all bytes of `parts`.
bool addSection(Elf* to, size_t name, const std::vector<Part>& parts, uint64_t& left) {
  Elf_Scn* section = elf_newscn(to);
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return false;
  header.sh_name = static_cast<GElf_Word>(name);
  header.sh_type = SHT_PROGBITS;
  for (const Part& part : parts) {
    const Elf_Data* from =
        inflateZlib(part.section, part.isGnu) ? elf_rawdata(part.section, nullptr) : nullptr;
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

bool writeJoined(Elf* from, const SectionsByName& sections, int file, uint64_t left) {
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

/// What is made is taken off from `left`.
UniqueFd join(Elf* elf, const SectionsByName& sections, uint64_t& left) {
  const uint64_t size = bytesToMake(elf, sections, left);
  if (size > left) return {};
  const InflatedSections inflated = inflateZstd(elf);
  UniqueFd file(::memfd_create("cacheline-debug-sections", MFD_CLOEXEC));
  if (!file || !writeJoined(elf, sections, file.get(), left)) return {};
  left -= size;
  return file;
}

}  // namespace

JoinedSections joinSections(const std::string& path, uint64_t& left) {
  elf_version(EV_CURRENT);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const ElfHandle elf(fd ? elf_begin(fd.get(), ELF_C_READ_MMAP_PRIVATE, nullptr) : nullptr);
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return {};
  const SectionsByName sections = debugSections(elf.get(), true);
  if (!areRepeated(sections) && !hasZstd(elf.get())) return {};
  return {true, join(elf.get(), sections, left)};
}

JoinedSections joinSections(Elf* object) {
  constexpr uint64_t kMost = uint64_t{1} << 31;
  SectionsByName sections = debugSections(object, false);
  bool needed = areRepeated(sections);
  for (auto& [name, parts] : sections) {
    for (Part& part : parts) {
      if (part.isGnu && gnuInflatedSize(part.section)) return {true, {}};  // it is damaged
      needed |= std::exchange(part.isGnu, false);
    }
    // What others refer to by its place in the section is in no group.
    std::stable_partition(parts.begin(), parts.end(), [](const Part& part) { return !isOfGroup(part); });
  }
  if (!needed) return {};
  uint64_t left = kMost;
  return {true, join(object, sections, left)};
}

}  // namespace cacheline::symbols
