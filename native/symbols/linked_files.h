// Which binaries a program will have mapped once it runs, told before it does.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "symbols/elf_format.h"

namespace cacheline::symbols {

/// What the dynamic loader is told by the environment of the program.
struct LoaderSettings {
  std::string libraryPath;       ///< LD_LIBRARY_PATH
  std::string preload;           ///< LD_PRELOAD
  std::string workingDirectory;  ///< of the program, for relative folders; empty: ours
};

struct LinkedFiles {
  std::vector<std::string> paths;  ///< the program, then its libraries, in the loader's order
  /// Why other binaries may come: one clause with its subject; empty: none can.
  std::string more;
};

/// Follows DT_NEEDED as ld.so(8) does: DT_RPATH, LD_LIBRARY_PATH, DT_RUNPATH, /etc/ld.so.cache, the default
/// folders. Nothing is run. `more` names a library that was not found, or a function by which the program or
/// a library of it can load others or start another program; the C library's own look-ups (NSS, iconv) do not
/// count. Never throws.
LinkedFiles linkedFiles(const std::string& program, const LoaderSettings& settings);

/// The libraries of /etc/ld.so.cache by name, as glibc 2.32 and newer write it; empty for any other bytes.
std::multimap<std::string, std::string> parseLoaderCache(Bytes bytes);

}  // namespace cacheline::symbols
