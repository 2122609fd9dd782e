// Reads the ELF tables through ElfFormat, so that no offset needs to be aligned, and never past the end.
#include "symbols/elf_file.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"

namespace cacheline::symbols {
namespace {

/// As many entries of a table as are wholly inside the file: a lying count costs nothing.
template <typename T>
std::vector<T> readTable(const ElfFormat& format, Bytes bytes, uint64_t offset, uint64_t count) {
  const size_t size = format.entrySize(std::type_identity<T>{});
  const uint64_t room = offset < bytes.size() ? (bytes.size() - offset) / size : 0;
  std::vector<T> table(static_cast<size_t>(std::min(count, room)));
  for (size_t i = 0; i < table.size(); i++) format.read(bytes, offset + i * size, table[i]);
  return table;
}

/// Walks Elf64_Nhdr records; `alignment` is 4, or 8 where the header asks for it.
std::string buildIdInNotes(const ElfFormat& format, Bytes notes, uint64_t alignment) {
  const uint64_t align = alignment == 8 ? 8 : 4;
  uint64_t offset = 0;
  Elf64_Nhdr note;
  while (format.read(notes, offset, note)) {
    const uint64_t nameAt = offset + sizeof note;
    const uint64_t dataAt = (nameAt + note.n_namesz + align - 1) / align * align;
    const Bytes name = clippedSlice(notes, nameAt, note.n_namesz);
    const Bytes data = clippedSlice(notes, dataAt, note.n_descsz);
    if (note.n_type == NT_GNU_BUILD_ID && name.size() == 4 && std::memcmp(name.data(), "GNU", 4) == 0 &&
        !data.empty() && data.size() == note.n_descsz && data.size() <= kLongestBuildId)
      return hex(data);
    offset = (dataAt + note.n_descsz + align - 1) / align * align;
  }
  return {};
}

/// Gives the sections of a relocatable file addresses, in their order and with their alignment. A module and
/// its separate debug file have the same sections, so they get the same addresses.
void placeSections(std::vector<Elf64_Shdr>& headers) {
  constexpr uint64_t kLargestAlignment = uint64_t{1} << 21;
  uint64_t next = ElfFile::kRelocatableBase;
  for (Elf64_Shdr& header : headers) {
    if ((header.sh_flags & SHF_ALLOC) == 0) continue;
    if (const uint64_t align = header.sh_addralign; std::has_single_bit(align) && align <= kLargestAlignment)
      next = (next + align - 1) / align * align;
    header.sh_addr = next;
    if (__builtin_add_overflow(next, header.sh_size, &next) || next > UINT64_MAX / 2)
      return;  // sizes that lie
  }
}

/// What `ar` makes, with or without the files' bytes.
bool isArchive(Bytes bytes) {
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min<size_t>(bytes.size(), 8));
  return start == "!<arch>\n" || start == "!<thin>\n";
}

/// Calls `take` with the values of a tag's entries, in their order.
template <typename Take>
void forEachDynamic(const ElfFile& file, int64_t tag, const Take& take) {
  for (const Elf64_Phdr& program : file.programHeaders) {
    if (program.p_type != PT_DYNAMIC) continue;
    const Bytes table = clippedSlice(file.bytes, program.p_offset, program.p_filesz);
    Elf64_Dyn entry;
    const size_t size = file.format.entrySize(std::type_identity<Elf64_Dyn>{});
    for (uint64_t at = 0; file.format.read(table, at, entry) && entry.d_tag != DT_NULL; at += size)
      if (entry.d_tag == tag) take(entry.d_un.d_val);
  }
}

}  // namespace

std::string hex(Bytes bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

Bytes clippedSlice(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(static_cast<size_t>(offset),
                       static_cast<size_t>(std::min<uint64_t>(size, bytes.size() - offset)));
}

std::string_view stringAt(Bytes strings, uint64_t offset) {
  const Bytes rest = clippedSlice(strings, offset, UINT64_MAX);
  if (rest.empty()) return {};
  const void* end = std::memchr(rest.data(), 0, rest.size());
  if (end == nullptr) return {};
  const char* begin = reinterpret_cast<const char*>(rest.data());
  return {begin, static_cast<size_t>(static_cast<const char*>(end) - begin)};
}

ElfFile ElfFile::parse(Bytes bytes, const std::string& path) {
  if (bytes.size() < SELFMAG || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    throw Error(ErrorKind::unreadable,
                path + (isArchive(bytes) ? " is an archive of object files" : " is not an ELF file"));
  ElfFile file;
  file.bytes = bytes;
  if (bytes.size() > EI_DATA) {
    const uint8_t wide = bytes[EI_CLASS], order = bytes[EI_DATA];
    if ((wide != ELFCLASS32 && wide != ELFCLASS64) || (order != ELFDATA2LSB && order != ELFDATA2MSB))
      throw Error(ErrorKind::unreadable, path + " is an ELF file of class " + std::to_string(wide) +
                                             " and byte order " + std::to_string(order) +
                                             "; both can only be 1 or 2");
    file.format = {wide == ELFCLASS64, (order == ELFDATA2MSB) != (std::endian::native == std::endian::big)};
  }
  if (!file.format.read(bytes, 0, file.header))
    throw Error(ErrorKind::unreadable,
                path + " ends inside its ELF header, after " + std::to_string(bytes.size()) + " bytes");
  const Elf64_Ehdr& header = file.header;
  const ElfFormat& format = file.format;

  // Counts that do not fit 16 bits are in section header 0 (gABI, "Extended numbering").
  Elf64_Shdr first{};
  const bool sectionsReadable = header.e_shentsize == format.entrySize(std::type_identity<Elf64_Shdr>{}) &&
                                header.e_shoff != 0 && format.read(bytes, header.e_shoff, first);
  const uint64_t sectionCount = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  const uint64_t programHeaderCount = header.e_phnum == PN_XNUM ? first.sh_info : header.e_phnum;
  const uint64_t namesIndex = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;

  if (header.e_phentsize == format.entrySize(std::type_identity<Elf64_Phdr>{}) && header.e_phoff != 0)
    file.programHeaders = readTable<Elf64_Phdr>(format, bytes, header.e_phoff, programHeaderCount);
  if (!sectionsReadable) return file;
  auto headers = readTable<Elf64_Shdr>(format, bytes, header.e_shoff, sectionCount);
  if (file.isRelocatable()) placeSections(headers);
  const Bytes names = namesIndex < headers.size()
                          ? clippedSlice(bytes, headers[namesIndex].sh_offset, headers[namesIndex].sh_size)
                          : Bytes{};
  file.sections.reserve(headers.size());
  for (const Elf64_Shdr& section : headers) {
    const bool inFile = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
    file.sections.push_back({stringAt(names, section.sh_name), section,
                             inFile ? clippedSlice(bytes, section.sh_offset, section.sh_size) : Bytes{}});
  }
  return file;
}

uint64_t ElfFile::sectionHeadersEnd() const {
  const uint64_t size = std::max<uint64_t>(header.e_shnum, 1) * header.e_shentsize;
  return header.e_shoff > UINT64_MAX - size ? UINT64_MAX : header.e_shoff + size;
}

bool ElfFile::isCutOff() const {
  return header.e_shoff != 0 && sectionHeadersEnd() > bytes.size();
}

bool ElfFile::isDebugOnly() const {
  bool code = false;
  for (const ElfSection& section : sections) {
    if ((section.header.sh_flags & SHF_EXECINSTR) == 0) continue;
    if (section.header.sh_type != SHT_NOBITS) return false;
    code = true;
  }
  return code;
}

size_t ElfFile::symbolCount(const ElfSection& table) const {
  return table.bytes.size() / format.entrySize(std::type_identity<Elf64_Sym>{});
}

Elf64_Sym ElfFile::symbol(const ElfSection& table, size_t index) const {
  Elf64_Sym entry{};
  format.read(table.bytes, index * format.entrySize(std::type_identity<Elf64_Sym>{}), entry);
  if (isRelocatable() && entry.st_shndx < sections.size())
    entry.st_value += sections[entry.st_shndx].header.sh_addr;
  return entry;
}

const ElfSection* ElfFile::section(std::string_view name) const {
  for (const ElfSection& section : sections)
    if (section.name == name) return &section;
  return nullptr;
}

bool ElfFile::hasProgramHeader(uint32_t type) const {
  return std::any_of(programHeaders.begin(), programHeaders.end(),
                     [&](const Elf64_Phdr& program) { return program.p_type == type; });
}

Bytes ElfFile::loadedBytes(uint64_t address, uint64_t size) const {
  for (const Elf64_Phdr& program : programHeaders) {
    if (program.p_type != PT_LOAD || address < program.p_vaddr) continue;
    const uint64_t offset = address - program.p_vaddr;
    if (offset >= program.p_filesz) continue;
    const Bytes content = clippedSlice(bytes, program.p_offset, program.p_filesz);
    return clippedSlice(content, offset, size);
  }
  return {};
}

std::string ElfFile::buildId() const {
  // Sections first: in a file made by `objcopy --only-keep-debug` they are right and the segments' offsets
  // are not.
  for (const ElfSection& section : sections) {
    if (section.header.sh_type != SHT_NOTE) continue;
    std::string id = buildIdInNotes(format, section.bytes, section.header.sh_addralign);
    if (!id.empty()) return id;
  }
  for (const Elf64_Phdr& program : programHeaders) {
    if (program.p_type != PT_NOTE) continue;
    std::string id =
        buildIdInNotes(format, clippedSlice(bytes, program.p_offset, program.p_filesz), program.p_align);
    if (!id.empty()) return id;
  }
  return {};
}

bool ElfFile::hasSymbolTable() const {
  return std::any_of(sections.begin(), sections.end(), [this](const ElfSection& section) {
    return section.header.sh_type == SHT_SYMTAB && symbolCount(section) > 0;
  });
}

bool ElfFile::hasDebugInfo() const {
  for (std::string_view name : {".debug_info", ".zdebug_info"}) {
    const ElfSection* info = section(name);
    if (info != nullptr && !info->bytes.empty()) return true;
  }
  return false;
}

std::optional<uint64_t> ElfFile::dynamicEntry(int64_t tag) const {
  std::optional<uint64_t> first;
  forEachDynamic(*this, tag, [&first](uint64_t value) {
    if (!first) first = value;
  });
  return first;
}

std::vector<std::string_view> ElfFile::dynamicStrings(int64_t tag) const {
  std::vector<std::string_view> strings;
  const Bytes table = loadedBytes(dynamicEntry(DT_STRTAB).value_or(0), dynamicEntry(DT_STRSZ).value_or(0));
  forEachDynamic(*this, tag, [&](uint64_t offset) { strings.push_back(stringAt(table, offset)); });
  return strings;
}

std::string buildIdOfNotes(Bytes notes) {
  return buildIdInNotes(ElfFormat{}, notes, 4);
}

std::string machineName(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "i386";
    case EM_ARM:
      return "arm";
    case EM_RISCV:
      return "riscv";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390";
    case EM_MIPS:
      return "mips";
    case 258:  // EM_LOONGARCH, newer than some elf.h
      return "loongarch";
    default:
      return "machine " + std::to_string(machine);
  }
}

}  // namespace cacheline::symbols
