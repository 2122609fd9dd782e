// Where x86-64 code finds the thread-local variables of one file: every thread has a block of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "symbols/elf_file.h"

namespace cacheline::symbols {

/// Offsets count from the start of the file's block, as DWARF states them. Empty for other machines.
class ThreadLocals {
 public:
  ThreadLocals() = default;
  explicit ThreadLocals(const ElfFile& file);

  /// What a word of the global offset table leads to, which the dynamic loader fills in.
  struct Entry {
    enum class Kind : uint8_t {
      fromThreadPointer,  ///< it holds the distance to the variable (R_X86_64_TPOFF64)
      argument,           ///< __tls_get_addr() gives the address for it (R_X86_64_DTPMOD64)
      descriptor          ///< the function that it holds gives the distance (R_X86_64_TLSDESC)
    };
    Kind kind = Kind::fromThreadPointer;
    uint64_t offset = 0;
  };
  /// By its ELF address; null: none.
  const Entry* entryAt(uint64_t address) const;
  /// The variables of other files that the code uses, by symbol. Their offsets are made up, behind any block.
  const std::map<std::string_view, uint64_t>& ofOthers() const { return ofOthers_; }
  /// Offset of the thread pointer, which lies behind the block of an executable. nullopt: a library, whose
  /// block the dynamic loader places.
  std::optional<uint64_t> threadPointer() const { return threadPointer_; }

 private:
  std::optional<uint64_t> offsetOf(const ElfFile& file, const ElfSection& relocations, uint64_t symbol);

  std::map<uint64_t, Entry> entries_;
  std::map<std::string_view, uint64_t> ofOthers_;
  std::optional<uint64_t> threadPointer_;
};

}  // namespace cacheline::symbols
