// Reading of /proc/PID/numa_maps and statm.
#include "machine/node_memory.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <numeric>

#include "base/kernel_files.h"

namespace cacheline::machine {
namespace {

/// Some hundred bytes a mapping; vm.max_map_count is 65530 by default and a few millions at most.
constexpr size_t kMostNumaMaps = size_t{256} << 20;
/// Of an address space (Documentation/arch/x86/x86_64/5level-paging.rst); a line that has more is malformed.
constexpr uint64_t kMostBytes = uint64_t{1} << 57;

MemoryKind kindOf(std::string_view line) {
  const auto has = [line](std::string_view word) { return line.find(word) != std::string_view::npos; };
  // Whole words: a file's name may hold any of them, and its spaces are escaped.
  if (has(" huge ") || line.ends_with(" huge")) return MemoryKind::huge;
  if (has(" heap ") || line.ends_with(" heap")) return MemoryKind::heap;
  if (has(" stack ") || line.ends_with(" stack") || has(" stack:")) return MemoryKind::stack;
  return MemoryKind::other;
}

/// Pages by node of one line, and their size.
struct LinePages {
  std::map<uint32_t, uint64_t> byNode;
  uint64_t pageBytes;
};

LinePages pagesOf(std::string_view line, uint64_t pageBytes) {
  LinePages pages{{}, pageBytes};
  while (!line.empty()) {
    std::string_view word = takeUntil(line, ' ');
    if (word.starts_with("kernelpagesize_kB=")) {
      const auto size = parseNumber<uint32_t>(word.substr(word.find('=') + 1));
      if (size && *size > 0) pages.pageBytes = uint64_t{*size} * 1024;
    } else if (word.starts_with('N')) {
      word.remove_prefix(1);
      const auto node = parseNumber<uint32_t>(takeUntil(word, '='));
      const auto count = parseNumber<uint64_t>(word);
      if (node && count) pages.byNode[*node] = *count;
    }
  }
  return pages;
}

std::optional<uint64_t> residentBytes(const std::string& folder, uint64_t pageBytes) {
  const std::string text = readText(folder + "/statm").value_or("");
  std::string_view rest = text;
  takeUntil(rest, ' ');  // the size of the address space
  const auto pages = parseNumber<uint64_t>(takeUntil(rest, ' '));
  return pages && *pages <= kMostBytes / pageBytes ? std::optional<uint64_t>(*pages * pageBytes)
                                                   : std::nullopt;
}

std::string whyUnreadable(const std::string& path, int errnum) {
  switch (errnum) {
    case ENOENT:
      return "this kernel has no " + path + " (CONFIG_NUMA is off), or the process has ended";
    case EACCES:
    case EPERM:
      return path + " is not readable for this user: look as the process's user, or as root";
    case ESRCH:
      return "the process has ended";
    default:
      return path + " cannot be read: " + std::strerror(errnum);
  }
}

}  // namespace

uint64_t bytesOf(const std::array<uint64_t, kMemoryKinds>& kinds) {
  return std::accumulate(kinds.begin(), kinds.end(), uint64_t{0});
}

uint64_t bytesOf(const NodeMemory& memory) {
  uint64_t sum = 0;
  for (const auto& [node, kinds] : memory) sum += bytesOf(kinds);
  return sum;
}

void addTo(NodeMemory& sum, const NodeMemory& part) {
  for (const auto& [node, kinds] : part) {
    auto& into = sum[node];  // new ones are zero
    for (size_t i = 0; i < kMemoryKinds; i++) into[i] += kinds[i];
  }
}

NodeMemory parseNumaMaps(std::string_view text, uint64_t pageBytes) {
  NodeMemory memory;
  while (!text.empty()) {
    const std::string_view line = takeUntil(text, '\n');
    const LinePages pages = pagesOf(line, pageBytes);
    const auto kind = static_cast<size_t>(kindOf(line));
    for (const auto& [node, count] : pages.byNode)
      if (count <= kMostBytes / pages.pageBytes) memory[node][kind] += count * pages.pageBytes;
  }
  return memory;
}

MemoryLook memoryOf(pid_t process, const Roots& roots, const Topology& topology) {
  const std::string folder = roots.procfs + "/" + std::to_string(process), path = folder + "/numa_maps";
  const auto pageBytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  errno = 0;
  const std::optional<std::string> text = readText(path, kMostNumaMaps);
  const int errnum = errno;
  if (text && text->size() < kMostNumaMaps) return {parseNumaMaps(*text, pageBytes), ""};
  const std::string reason = text ? path + " is longer than 256 MiB" : whyUnreadable(path, errnum);
  if (topology.nodes.size() == 1)
    if (const auto bytes = residentBytes(folder, pageBytes))
      return {NodeMemory{{topology.nodes[0].id, {0, 0, 0, *bytes}}}, reason};
  return {{}, reason};
}

}  // namespace cacheline::machine
