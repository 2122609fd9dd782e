// Where x86-64 code finds the thread-local variables of one file: every thread has a block of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

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
  /// By its ELF address; null: none, or one for a variable of another file.
  const Entry* entryAt(uint64_t address) const;
  /// Offset of the thread pointer, which lies behind the block of an executable. nullopt: a library, whose
  /// block the dynamic loader places.
  std::optional<uint64_t> threadPointer() const { return threadPointer_; }

 private:
  std::map<uint64_t, Entry> entries_;
  std::optional<uint64_t> threadPointer_;
};

}  // namespace cacheline::symbols
