// The user's cache folder: what can be made again, and is kept because making it takes time.
#pragma once

#include <string>
#include <string_view>

namespace cacheline {

/// $XDG_CACHE_HOME/cacheline-lens, else ~/.cache/cacheline-lens; empty: neither variable is an absolute path.
std::string cacheFolder();

/// Writes `path` in one step: a reader sees the old file or the new one. Makes the folders above it. Throws
/// Error(io); no file of its own is left then.
void keepFile(const std::string& path, std::string_view bytes);

}  // namespace cacheline
