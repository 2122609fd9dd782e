// Finds the cache folder by the XDG Base Directory Specification and writes files in it.
#include "base/cache_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/unique_fd.h"

namespace cacheline {

std::string cacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/cacheline-lens";
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return {};
  return std::string(home) + "/.cache/cacheline-lens";
}

void keepFile(const std::string& path, std::string_view bytes) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(ErrorKind::io, "cannot create the folder " + folder + ": " + error.message());
  std::string name = path + ".XXXXXX";
  UniqueFd fd(::mkstemp(name.data()));
  if (!fd) throw Error(ErrorKind::io, describeErrno("cannot create a file in " + folder, errno));
  const auto fail = [&](const char* what, int errnum) {
    ::unlink(name.c_str());
    throw Error(ErrorKind::io, describeErrno(what + path, errnum));
  };
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot write ", errno);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  // Network file systems report a full disk here.
  if (::close(fd.release()) != 0) fail("cannot write ", errno);
  if (::rename(name.c_str(), path.c_str()) != 0) fail("cannot replace ", errno);
}

}  // namespace cacheline
