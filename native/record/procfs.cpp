// Looks at the folders of a process and its threads in /proc.
#include "record/procfs.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

namespace cacheline::record {
namespace {

/// Where /proc shows what all threads of a process share, the first thread's folder first: that of a thread
/// that has ended has empty files and no links.
std::vector<std::string> foldersOf(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  std::vector<std::string> folders = {folder};
  for (const pid_t thread : threadsOf(process))
    if (thread != process) folders.push_back(folder + "/task/" + std::to_string(thread));
  return folders;
}

}  // namespace

std::vector<pid_t> threadsOf(pid_t process) {
  std::vector<pid_t> threads;
  for (const std::string& name : listDirectory("/proc/" + std::to_string(process) + "/task"))
    if (const std::optional<pid_t> thread = parseNumber<pid_t>(name)) threads.push_back(*thread);
  std::sort(threads.begin(), threads.end());
  return threads;
}

std::string linkOf(pid_t process, const std::string& name) {
  for (const std::string& folder : foldersOf(process)) {
    std::error_code unreadable;
    const std::string target = std::filesystem::read_symlink(folder + "/" + name, unreadable).string();
    if (!unreadable) return target;
  }
  return {};
}

std::string foreignRoot(pid_t process) {
  struct stat own {
  }, other{};
  if (::stat("/proc/self/ns/mnt", &own) != 0) return {};
  for (const std::string& folder : foldersOf(process))
    if (::stat((folder + "/ns/mnt").c_str(), &other) == 0)
      return own.st_ino == other.st_ino ? std::string() : folder + "/root";
  return {};
}

}  // namespace cacheline::record
