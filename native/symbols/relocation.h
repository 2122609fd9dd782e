// The relocations of object files and kernel modules, whose sections got their addresses from ElfFile.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <span>

#include "symbols/elf_file.h"

namespace cacheline::symbols {

/// What a relocatable file does not define (for a module: the kernel's symbols) is taken to lie here, where
/// none of its sections do.
inline constexpr uint64_t kElsewhere = 0x70000000;

/// Writes what the file's relocations say into `bytes`, a copy of its section number `section`. Returns the
/// kind of the first one that is not known (its bytes stay as they were); nullopt where all are. Formats: ELF
/// of x86-64 (psABI, "Relocation") and of AArch64 (ELF for the Arm 64-bit Architecture, "Relocation").
std::optional<uint32_t> relocate(const ElfFile& file, size_t section, std::span<uint8_t> bytes);

/// The same for all of the debug information that `elf` has open, which is the file `file` in writable memory
/// (ELF_C_READ_MMAP_PRIVATE). Throws Error(unreadable) for other machines, and for unknown kinds.
void relocateDebugInfo(Elf* elf, const ElfFile& file);

}  // namespace cacheline::symbols
