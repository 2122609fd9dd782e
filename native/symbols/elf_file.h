// The raw tables of an ELF file of either class and byte order, bounds-checked, over bytes in memory. No
// symbols, no policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/elf_format.h"

namespace cacheline::symbols {

/// `bytes[offset, offset + size)`, clipped to what is there; empty where offset is outside.
Bytes clippedSlice(Bytes bytes, uint64_t offset, uint64_t size);
/// The NUL-terminated string at `offset`; empty where it is outside or has no end.
std::string_view stringAt(Bytes strings, uint64_t offset);

/// Two lower-case digits a byte.
std::string hex(Bytes bytes);

inline constexpr size_t kLongestBuildId = 64;  ///< bytes; a longer one is none

struct ElfSection {
  std::string_view name;
  Elf64_Shdr header{};
  Bytes bytes;  ///< what is in the file, clipped to it; empty for SHT_NOBITS
  bool contains(uint64_t address) const {
    return address >= header.sh_addr && address - header.sh_addr < header.sh_size;
  }
  /// Occupies memory of the process image; .tbss has an address but no memory there.
  bool isMapped() const {
    return (header.sh_flags & SHF_ALLOC) != 0 &&
           !((header.sh_flags & SHF_TLS) != 0 && header.sh_type == SHT_NOBITS);
  }
};

/// Format: System V gABI, "Object Files". A table that lies outside the file is read as far as it is inside.
/// Sections of a relocatable file (a kernel module) have no addresses yet: they get some here, one after the
/// other from kRelocatableBase on, so that symbols and questions about them meet.
struct ElfFile {
  static constexpr uint64_t kRelocatableBase = 0x1000;
  ElfFormat format;
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> programHeaders;
  std::vector<ElfSection> sections;  ///< index = section index; [0] is the null section
  Bytes bytes;

  /// Throws Error(unreadable), naming `path`, unless it is an ELF file. `bytes` must outlive it.
  static ElfFile parse(Bytes bytes, const std::string& path);

  const ElfSection* section(std::string_view name) const;
  bool hasProgramHeader(uint32_t type) const;
  bool isRelocatable() const { return header.e_type == ET_REL; }
  bool isCutOff() const;               ///< its section headers lie behind its end, or reach over it
  uint64_t sectionHeadersEnd() const;  ///< of the file that it says it is
  /// Code sections without bytes: what `objcopy --only-keep-debug` and `eu-strip -f` make.
  bool isDebugOnly() const;
  size_t symbolCount(const ElfSection& table) const;
  /// Entry `index` < symbolCount() of a SHT_SYMTAB or SHT_DYNSYM section; in relocatable files moved to its
  /// section's address.
  Elf64_Sym symbol(const ElfSection& table, size_t index) const;
  /// The file part of the PT_LOADs holding an address, from there on; empty where there is none.
  Bytes loadedBytes(uint64_t address, uint64_t size) const;
  /// Lower-case hex of the NT_GNU_BUILD_ID note, from the note sections, else from PT_NOTE; empty where there
  /// is none.
  std::string buildId() const;
  bool hasSymbolTable() const;  ///< a .symtab with entries
  bool hasDebugInfo() const;    ///< .debug_info with bytes, plain or compressed
  /// Value of a dynamic-section entry (DT_*), nullopt where it is absent.
  std::optional<uint64_t> dynamicEntry(int64_t tag) const;
  /// The strings that the dynamic section's entries of a tag name (DT_NEEDED, DT_RUNPATH), in their order.
  std::vector<std::string_view> dynamicStrings(int64_t tag) const;
};

/// The NT_GNU_BUILD_ID of notes in this machine's byte order with 4-byte alignment, hex; empty where there is
/// none.
std::string buildIdOfNotes(Bytes notes);

/// "x86_64", "aarch64", ... as `uname -m` says it, "machine 123" for others.
std::string machineName(uint16_t machine);

}  // namespace cacheline::symbols
