// Finds the separate debug file of a stripped binary: by build id, by .gnu_debuglink, or at
// debuginfod servers; and what dwz moved out of debug files.
#pragma once

#include <memory>
#include <string>

#include "symbols/elf_file.h"
#include "symbols/elf_image.h"
#include "symbols/symbol_search.h"

namespace cacheline::symbols {

struct DebugFile {
  std::shared_ptr<const ElfImage> image;  ///< null where none was found
  std::string reason;  ///< one sentence about a candidate that had to be refused; empty where there was none
};

/// A file is taken when it belongs to the binary and has debug information, or symbols that the binary has
/// not. It belongs when its build id is the binary's or, found by .gnu_debuglink, when its CRC-32 is the
/// recorded one and no build id contradicts. `recordedPath`: where the binary lay when it was recorded; debug
/// links are followed from there too. Asks debuginfod last, where `search` allows it. Never throws.
DebugFile findDebugFile(const ElfImage& image, const ElfFile& file, const std::string& recordedPath,
                        SymbolSearch& search);

/// The file that dwz moved what several files have in common to (.gnu_debugaltlink), where it has the build
/// id that `file` names: under symfs by its path, in the build-id folders, at the path, at debuginfod. Empty
/// where there is none of these, as where the link is relative: libdw then looks beside `file`. Never throws.
std::string findSupplement(const ElfFile& file, SymbolSearch& search);

/// The CRC-32 of .gnu_debuglink: reflected polynomial 0xEDB88320, initial value and final xor ~0.
uint32_t debugLinkCrc(Bytes bytes);

}  // namespace cacheline::symbols
