// Indexes of types on disk, by the build id of the binary they were made from.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "layouts/type_index.h"

namespace cacheline::layouts {

/// $XDG_CACHE_HOME/cacheline-lens/types, else the same under ~/.cache; empty: there is no such place.
std::string typeIndexFolder();

/// What an index was made from besides the build id: the names and sizes of the debug sections. A debug file
/// made anew (dwz, objcopy) keeps its build id. `debugBytes`: of .debug_info and .debug_types.
struct DebugSections {
  uint64_t fingerprint = 0, debugBytes = 0;
};
DebugSections debugSections(Dwarf* dwarf);

/// The file's bytes. Format, our own: magic, version, fingerprint, hash of what follows; then the tables as
/// counted records, integers in this machine's byte order, texts with their lengths.
std::string writeTypeIndex(const TypeIndex& index, uint64_t fingerprint);
/// Nullopt where the bytes are no index of this version and fingerprint, or not whole: every count, index and
/// length is checked.
std::optional<TypeIndex> readTypeIndex(std::string_view bytes, uint64_t fingerprint);

/// The index of a binary: from disk, else built and, where building took work and a folder can be written,
/// kept.
TypeIndex typeIndexOf(symbols::DwarfIndex& file, const std::string& buildId);

}  // namespace cacheline::layouts
