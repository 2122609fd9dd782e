// The relocations of object files and kernel modules, whose sections got their addresses from ElfFile.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "symbols/elf_file.h"

namespace cacheline::symbols {

/// What a relocatable file does not define (for a module: the kernel's symbols) is taken to lie here, where
/// none of its sections do.
inline constexpr uint64_t kElsewhere = 0x70000000;

/// Formats: ELF of x86-64 (psABI, "Relocation") and of AArch64 (ELF for the Arm 64-bit Architecture,
/// "Relocation"). Sections that share their bytes are a lie, and are not done again and again.
class Relocations {
 public:
  /// `file` must outlive this.
  explicit Relocations(const ElfFile& file);
  /// Whether those of its machine are known.
  bool known() const { return known_; }
  /// Writes what they say into `bytes`, a copy of what the section of that number holds. Returns the kind of
  /// the first one that is not known (its bytes stay as they were); nullopt where all are.
  std::optional<uint32_t> apply(uint32_t section, std::span<uint8_t> bytes);

 private:
  const ElfFile& file_;
  bool known_ = false;
  std::unordered_map<uint32_t, const ElfSection*> tables_;  ///< by the section that they are for
  uint64_t left_ = 0;  ///< bytes of tables that can be read still before some are read twice
};

/// Applies those of all of the debug information that `elf` has open, which is the file `file` in writable
/// memory (ELF_C_READ_MMAP_PRIVATE). Throws Error(unreadable) for other machines, and for unknown kinds.
void relocateDebugInfo(Elf* elf, const ElfFile& file);

}  // namespace cacheline::symbols
