// Reading of small text files of /proc and /sys.
#include "record/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/unique_fd.h"

namespace cacheline::record {
namespace {

constexpr size_t kMaxText = size_t{4} << 20;
constexpr uint32_t kMaxCpu = 65535;

template <typename Number>
std::optional<Number> parseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

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

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::optional<std::string> readText(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;
  while (text.size() < kMaxText) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    text.append(buffer.data(), static_cast<size_t>(count));
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<int64_t> readNumber(const std::string& path) {
  const std::optional<std::string> text = readText(path);
  return text ? parseNumber<int64_t>(trim(*text)) : std::nullopt;
}

std::string fieldOf(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key)
      return std::string(trim(line.substr(colon + 1)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::vector<uint32_t> parseCpuList(std::string_view text) {
  std::vector<uint32_t> cpus;
  text = trim(text);
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t dash = part.find('-');
    const std::optional<uint32_t> first = parseNumber<uint32_t>(part.substr(0, dash));
    const std::optional<uint32_t> last =
        dash == std::string_view::npos ? first : parseNumber<uint32_t>(part.substr(dash + 1));
    if (!first || !last) continue;
    for (uint32_t cpu = *first; cpu <= std::min(*last, kMaxCpu); cpu++) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<std::string> listDirectory(const std::string& path) {
  std::vector<std::string> names;
  const auto closeDirectory = [](DIR* directory) { ::closedir(directory); };
  const std::unique_ptr<DIR, decltype(closeDirectory)> directory(::opendir(path.c_str()), closeDirectory);
  if (!directory) return names;
  while (const dirent* entry = ::readdir(directory.get()))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

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
  struct stat own{}, other{};
  if (::stat("/proc/self/ns/mnt", &own) != 0) return {};
  for (const std::string& folder : foldersOf(process))
    if (::stat((folder + "/ns/mnt").c_str(), &other) == 0)
      return own.st_ino == other.st_ino ? std::string() : folder + "/root";
  return {};
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace cacheline::record
