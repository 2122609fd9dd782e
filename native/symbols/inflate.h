// Compressed sections: with zstd, which libelf reads only where it was built so, and as GNU tools did before
// ELF had a way.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cacheline::symbols {

/// The bytes of inflated sections. To be kept until elf_end().
using InflatedSections = std::vector<std::unique_ptr<uint8_t[]>>;

bool hasZstd(Elf* elf);
/// Inflates the zstd sections of an open file in place; for libelf and libdw they are plain ones then. What
/// is damaged stays as it is.
InflatedSections inflateZstd(Elf* elf);

/// What a section ".zdebug_..." inflates to, bytes; nullopt: it is not what the name says.
std::optional<uint64_t> gnuInflatedSize(Elf_Scn* section);
/// Inflates a section in place that zlib or GNU's way compressed; others stay as they are. `isGnu`: its name
/// says so. False where it is damaged.
bool inflateZlib(Elf_Scn* section, bool isGnu);

/// Why .debug_info is still compressed, and what to do; empty where it is not.
std::string compressionProblem(Elf* elf);

}  // namespace cacheline::symbols
