// U. Drepper, "ELF Handling For Thread-Local Storage", variant II; A. Oliva, "Thread-Local Storage
// Descriptors for IA32 and AMD64/EM64T".
#include "symbols/thread_locals.h"

#include <cstring>

namespace cacheline::symbols {
namespace {

/// Position-independent ones say so; some libraries can be run, too, and have an interpreter.
bool isExecutable(const ElfFile& file) {
  return file.header.e_type == ET_EXEC || (file.dynamicEntry(DT_FLAGS_1).value_or(0) & DF_1_PIE) != 0;
}

constexpr uint64_t kFirstOfOthers = uint64_t{1} << 62, kLargestOfOthers = uint64_t{1} << 32;

}  // namespace

/// Of what a relocation's symbol names; nullopt: nothing thread-local.
std::optional<uint64_t> ThreadLocals::offsetOf(const ElfFile& file, const ElfSection& relocations,
                                               uint64_t symbol) {
  if (symbol == 0) return 0;
  if (relocations.header.sh_link >= file.sections.size()) return std::nullopt;
  const ElfSection& table = file.sections[relocations.header.sh_link];
  if (symbol >= file.symbolCount(table)) return std::nullopt;
  const Elf64_Sym found = file.symbol(table, symbol);
  if (ELF64_ST_TYPE(found.st_info) != STT_TLS) return std::nullopt;
  if (found.st_shndx != SHN_UNDEF) return found.st_value;
  if (table.header.sh_link >= file.sections.size()) return std::nullopt;
  const std::string_view name = stringAt(file.sections[table.header.sh_link].bytes, found.st_name);
  return ofOthers_.try_emplace(name, kFirstOfOthers + ofOthers_.size() * kLargestOfOthers).first->second;
}

ThreadLocals::ThreadLocals(const ElfFile& file) {
  if (file.header.e_machine != EM_X86_64 || file.format != ElfFormat{}) return;
  for (const Elf64_Phdr& program : file.programHeaders) {
    if (program.p_type != PT_TLS || !isExecutable(file)) continue;
    // The thread pointer is as aligned as the block.
    const uint64_t align = program.p_align != 0 ? program.p_align : 1;
    threadPointer_ = program.p_memsz + ((0 - program.p_vaddr - program.p_memsz) & (align - 1));
  }
  uint64_t left = file.bytes.size();  // sections that share their bytes are a lie
  for (const ElfSection& section : file.sections) {
    if (section.header.sh_type != SHT_RELA || (section.header.sh_flags & SHF_ALLOC) == 0 ||
        section.bytes.size() > left)
      continue;
    left -= section.bytes.size();
    for (size_t at = 0; section.bytes.size() - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
      Elf64_Rela entry;
      std::memcpy(&entry, section.bytes.data() + at, sizeof entry);
      const auto type = ELF64_R_TYPE(entry.r_info);
      if (type != R_X86_64_TPOFF64 && type != R_X86_64_DTPMOD64 && type != R_X86_64_TLSDESC) continue;
      const uint64_t index = ELF64_R_SYM(entry.r_info);
      const auto symbol = offsetOf(file, section, index);
      if (!symbol) continue;
      if (type != R_X86_64_DTPMOD64) {
        const auto kind = type == R_X86_64_TPOFF64 ? Entry::Kind::fromThreadPointer : Entry::Kind::descriptor;
        entries_.try_emplace(entry.r_offset, Entry{kind, *symbol + static_cast<uint64_t>(entry.r_addend)});
        continue;
      }
      // The word behind it is the offset: of a symbol, written by the loader, too; else it stands there.
      uint64_t offset = *symbol;
      const Bytes behind = file.loadedBytes(entry.r_offset + sizeof offset, sizeof offset);
      if (index == 0 && behind.size() == sizeof offset) std::memcpy(&offset, behind.data(), sizeof offset);
      entries_.try_emplace(entry.r_offset, Entry{Entry::Kind::argument, offset});
    }
  }
}

const ThreadLocals::Entry* ThreadLocals::entryAt(uint64_t address) const {
  const auto found = entries_.find(address);
  return found != entries_.end() ? &found->second : nullptr;
}

}  // namespace cacheline::symbols
