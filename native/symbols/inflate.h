// Sections compressed with zstd, which libelf reads only where it was built so.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cacheline::symbols {

/// The bytes of inflated sections. To be kept until elf_end().
using InflatedSections = std::vector<std::unique_ptr<uint8_t[]>>;

/// Inflates the zstd sections of an open file in place; for libelf and libdw they are plain ones then. What
/// is damaged stays as it is.
InflatedSections inflateZstd(Elf* elf);

/// Why .debug_info is still compressed, and what to do; empty where it is not.
std::string compressionProblem(Elf* elf);

}  // namespace cacheline::symbols
