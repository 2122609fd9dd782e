// Looks into /proc for threads, children and mappings.
#include "record/watch_threads.h"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "record/procfs.h"

namespace cacheline::record {
namespace {

std::optional<pid_t> numberOf(const std::string& name) {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

std::vector<pid_t> numbersIn(const std::string& folder) {
  std::vector<pid_t> list;
  for (const std::string& name : listDirectory(folder))
    if (const auto number = numberOf(name)) list.push_back(*number);
  std::sort(list.begin(), list.end());
  return list;
}

struct Stat {
  char state = 0;
  pid_t parent = 0;
};

/// proc_pid_stat(5): "pid (name) state ppid ...", where the name may hold anything.
std::optional<Stat> statOf(const std::string& folder) {
  const auto text = readText(folder + "/stat");
  const size_t name = text ? text->rfind(')') : std::string::npos;
  Stat stat;
  if (name == std::string::npos ||
      std::sscanf(text->c_str() + name, ") %c %d", &stat.state, &stat.parent) != 2)
    return std::nullopt;
  return stat;
}

}  // namespace

std::vector<pid_t> threadsOf(pid_t pid) {
  return numbersIn("/proc/" + std::to_string(pid) + "/task");
}

bool isAlive(pid_t pid) {
  for (const pid_t tid : threadsOf(pid)) {
    const auto stat = statOf("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid));
    if (stat && stat->state != 'Z' && stat->state != 'X') return true;
  }
  return false;
}

std::vector<pid_t> withDescendants(const std::vector<pid_t>& pids) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : numbersIn("/proc"))
    if (const auto stat = statOf("/proc/" + std::to_string(pid))) children.emplace(stat->parent, pid);
  std::set<pid_t> found;
  std::vector<pid_t> open = pids;
  while (!open.empty()) {
    const pid_t pid = open.back();
    open.pop_back();
    if (!found.insert(pid).second) continue;
    const auto [begin, end] = children.equal_range(pid);
    for (auto child = begin; child != end; ++child) open.push_back(child->second);
  }
  std::vector<pid_t> living;
  for (const pid_t pid : found)
    if (isAlive(pid)) living.push_back(pid);
  return living;
}

bool isMapped(pid_t pid, uint64_t address, uint64_t length) {
  const auto maps = readText("/proc/" + std::to_string(pid) + "/maps");
  if (!maps) return false;
  for (size_t at = 0; at < maps->size();) {
    uint64_t start = 0, end = 0;
    char readable = '-';
    if (std::sscanf(maps->c_str() + at, "%" SCNx64 "-%" SCNx64 " %c", &start, &end, &readable) == 3 &&
        address >= start && address < end && length <= end - address)
      return readable == 'r';
    const size_t line = maps->find('\n', at);
    if (line == std::string::npos) break;
    at = line + 1;
  }
  return false;
}

}  // namespace cacheline::record
