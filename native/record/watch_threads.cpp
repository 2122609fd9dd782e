// Looks into /proc for life, children and mappings.
#include "record/watch_threads.h"

#include <sys/uio.h>

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

struct ThreadStat {
  char state = 0;
  pid_t parent = 0;
};

/// proc_pid_stat(5): "pid (name) state ppid ...", where the name may hold anything.
std::optional<ThreadStat> threadStatOf(const std::string& folder) {
  const auto text = readText(folder + "/stat");
  const size_t name = text ? text->rfind(')') : std::string::npos;
  ThreadStat stat;
  if (name == std::string::npos ||
      std::sscanf(text->c_str() + name, ") %c %d", &stat.state, &stat.parent) != 2)
    return std::nullopt;
  return stat;
}

/// The first thread may have ended before the others, and shows none then.
std::string mapsOf(pid_t pid) {
  for (const pid_t tid : threadsOf(pid))
    if (auto text = readText("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/maps");
        text && !text->empty())
      return std::move(*text);
  return {};
}

}  // namespace

bool isAlive(pid_t pid) {
  for (const pid_t tid : threadsOf(pid)) {
    const auto stat = threadStatOf("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid));
    if (stat && stat->state != 'Z' && stat->state != 'X') return true;
  }
  return false;
}

std::vector<pid_t> withDescendants(const std::vector<pid_t>& pids) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : numbersIn("/proc"))
    if (const auto stat = threadStatOf("/proc/" + std::to_string(pid))) children.emplace(stat->parent, pid);
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

std::vector<MappedPiece> mappingsOf(pid_t pid) {
  std::vector<MappedPiece> pieces;
  const std::string text = mapsOf(pid);
  for (size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    MappedPiece piece;
    char readable = '-';
    int path = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %c%*3c %" SCNx64 " %x:%x %" SCNu64 " %n",
                    &piece.start, &piece.end, &readable, &piece.fileOffset, &piece.major, &piece.minor,
                    &piece.inode, &path) < 7)
      continue;
    piece.readable = readable == 'r';
    if (path > 0) piece.path = line.substr(static_cast<size_t>(path));
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::optional<uint64_t> wordAt(pid_t pid, uint64_t address) {
  uint64_t word = 0;
  iovec here{&word, sizeof word}, there{reinterpret_cast<void*>(address), sizeof word};
  if (::process_vm_readv(pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(sizeof word))
    return std::nullopt;
  return word;
}

bool isMapped(pid_t pid, uint64_t address, uint64_t length) {
  for (const MappedPiece& piece : mappingsOf(pid))
    if (address >= piece.start && address < piece.end) return piece.readable && length <= piece.end - address;
  return false;
}

}  // namespace cacheline::record
