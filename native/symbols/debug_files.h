// Finds the separate debug file of a stripped binary: by build id, or by .gnu_debuglink.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "symbols/elf_file.h"
#include "symbols/elf_image.h"

namespace cacheline::symbols {

/// Where to look. The defaults are the conventions of the GNU tools.
struct DebugSearch {
  std::vector<std::string> roots{
      "/usr/lib/debug"};     ///< hold .build-id/xx/yyyy.debug, and copies of whole paths
  std::string buildIdCache;  ///< perf's cache, $HOME/.debug: holds .build-id/xx/yyyy; empty: not looked at
  static DebugSearch standard();
};

struct DebugFile {
  std::shared_ptr<const ElfImage> image;  ///< null where none was found
  std::string reason;  ///< one sentence about a candidate that had to be refused; empty where there was none
};

/// A file is taken when it belongs to the binary and has debug information, or symbols that the binary has
/// not. It belongs when its build id is the binary's or, found by .gnu_debuglink, when its CRC-32 is the
/// recorded one and no build id contradicts. Never throws.
DebugFile findDebugFile(const ElfImage& image, const ElfFile& file, const DebugSearch& search);

/// The CRC-32 of .gnu_debuglink: reflected polynomial 0xEDB88320, initial value and final xor ~0.
uint32_t debugLinkCrc(Bytes bytes);

}  // namespace cacheline::symbols
