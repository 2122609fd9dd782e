// Reading of small text files of /proc and /sys.
#include "base/kernel_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/unique_fd.h"

namespace cacheline {
namespace {

constexpr uint32_t kMaxCpu = 65535;

}  // namespace

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::optional<std::string> readText(const std::string& path, size_t most) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;
  while (text.size() < most) {
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

std::string_view takeUntil(std::string_view& rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

std::string fieldOf(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = takeUntil(text, '\n');
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key)
      return std::string(trim(line.substr(colon + 1)));
  }
  return {};
}

std::vector<uint32_t> parseCpuList(std::string_view text) {
  std::vector<uint32_t> cpus;
  text = trim(text);
  while (!text.empty()) {
    const std::string_view part = takeUntil(text, ',');
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

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace cacheline
