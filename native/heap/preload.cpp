// Paths for LD_PRELOAD.
#include "heap/preload.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/error.h"

namespace cacheline::heap {

// ld.so splits LD_PRELOAD at spaces and colons, and has no way to quote them: then a link stands in.
Preload::Preload(const std::string& library, const std::string& purpose, const std::string& without) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(library.c_str(), nullptr),
                                                             &std::free);
  if (!resolved)
    throw Error(ErrorKind::impossible, describeErrno("cannot find " + purpose + " " + library, errno),
                "Install Cacheline Lens again, or " + without);
  path_ = resolved.get();
  if (path_.find_first_of(" :") == std::string::npos) return;
  std::string folder = std::filesystem::temp_directory_path() / "cacheline-preload-XXXXXX";
  if (folder.find_first_of(" :") != std::string::npos || ::mkdtemp(folder.data()) == nullptr)
    throw Error(ErrorKind::impossible,
                purpose + " " + path_ + " cannot be preloaded: its path has a space or a colon, and " +
                    folder + " cannot be made",
                "Set TMPDIR to a folder without either, or " + without);
  ::chmod(folder.c_str(), 0755);
  folder_ = folder;
  const std::string link = folder + "/libcacheline_agent.so";
  if (::symlink(path_.c_str(), link.c_str()) != 0) {
    const int errnum = errno;
    ::rmdir(folder.c_str());
    throw Error(ErrorKind::io, describeErrno("cannot make " + link, errnum));
  }
  path_ = link;
}

Preload::~Preload() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::string Preload::entry(const std::vector<std::string>& environment) const {
  std::string libraries = path_;
  for (const std::string& entry : environment)
    if (entry.starts_with("LD_PRELOAD=") && entry.size() > 11) libraries += ":" + entry.substr(11);
  return "LD_PRELOAD=" + libraries;
}

}  // namespace cacheline::heap
