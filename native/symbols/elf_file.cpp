// Reads the ELF tables by memcpy, so that no offset needs to be aligned, and never past the end.
#include "symbols/elf_file.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace cacheline::symbols {
namespace {

template <typename T>
bool readAt(Bytes bytes, uint64_t offset, T& out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return true;
}

/// As many entries of a table as are wholly inside the file: a lying count costs nothing.
template <typename T>
std::vector<T> readTable(Bytes bytes, uint64_t offset, uint64_t count) {
  const uint64_t room = offset < bytes.size() ? (bytes.size() - offset) / sizeof(T) : 0;
  std::vector<T> table(static_cast<size_t>(std::min(count, room)));
  if (!table.empty()) std::memcpy(table.data(), bytes.data() + offset, table.size() * sizeof(T));
  return table;
}

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

/// Walks Elf64_Nhdr records; `alignment` is 4, or 8 where the header asks for it.
std::string buildIdInNotes(Bytes notes, uint64_t alignment) {
  constexpr uint32_t kLongestBuildId = 64;
  const uint64_t align = alignment == 8 ? 8 : 4;
  uint64_t offset = 0;
  Elf64_Nhdr note;
  while (readAt(notes, offset, note)) {
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

}  // namespace

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
    throw Error(ErrorKind::unreadable, path + " is not an ELF file");
  ElfFile file;
  file.bytes = bytes;
  if (bytes.size() > EI_DATA && (bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB))
    throw Error(ErrorKind::unreadable, path + " is an ELF file of class " + std::to_string(bytes[EI_CLASS]) +
                                           " and byte order " + std::to_string(bytes[EI_DATA]) +
                                           "; only 64-bit little-endian files (2 and 1) can be read");
  if (!readAt(bytes, 0, file.header))
    throw Error(ErrorKind::unreadable,
                path + " ends inside its ELF header, after " + std::to_string(bytes.size()) + " bytes");
  const Elf64_Ehdr& header = file.header;

  // Counts that do not fit 16 bits are in section header 0 (gABI, "Extended numbering").
  Elf64_Shdr first{};
  const bool sectionsReadable =
      header.e_shentsize == sizeof(Elf64_Shdr) && header.e_shoff != 0 && readAt(bytes, header.e_shoff, first);
  const uint64_t sectionCount = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  const uint64_t programHeaderCount = header.e_phnum == PN_XNUM ? first.sh_info : header.e_phnum;
  const uint64_t namesIndex = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;

  if (header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phoff != 0)
    file.programHeaders = readTable<Elf64_Phdr>(bytes, header.e_phoff, programHeaderCount);
  if (!sectionsReadable) return file;
  const auto headers = readTable<Elf64_Shdr>(bytes, header.e_shoff, sectionCount);
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
    std::string id = buildIdInNotes(section.bytes, section.header.sh_addralign);
    if (!id.empty()) return id;
  }
  for (const Elf64_Phdr& program : programHeaders) {
    if (program.p_type != PT_NOTE) continue;
    std::string id = buildIdInNotes(clippedSlice(bytes, program.p_offset, program.p_filesz), program.p_align);
    if (!id.empty()) return id;
  }
  return {};
}

bool ElfFile::hasSymbolTable() const {
  return std::any_of(sections.begin(), sections.end(), [](const ElfSection& section) {
    return section.header.sh_type == SHT_SYMTAB && section.bytes.size() >= sizeof(Elf64_Sym);
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
  for (const Elf64_Phdr& program : programHeaders) {
    if (program.p_type != PT_DYNAMIC) continue;
    const Bytes table = clippedSlice(bytes, program.p_offset, program.p_filesz);
    Elf64_Dyn entry;
    for (uint64_t at = 0; readAt(table, at, entry) && entry.d_tag != DT_NULL; at += sizeof entry)
      if (entry.d_tag == tag) return entry.d_un.d_val;
  }
  return std::nullopt;
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
