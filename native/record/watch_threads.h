// Life, descendants and mappings of processes, from /proc.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace cacheline::record {

/// Whether it has a thread that has not ended.
bool isAlive(pid_t pid);

/// `pids` that are alive, and the living processes that they and their children started, ascending.
std::vector<pid_t> withDescendants(const std::vector<pid_t>& pids);

/// Threads that are listed and not known, each once; both ascend, and so does the result. A process may have
/// thousands: by `less` there are fewer comparisons than twice the threads on both sides.
template <typename Less = std::less<>>
std::vector<pid_t> newThreads(const std::vector<pid_t>& listed, const std::vector<pid_t>& known,
                              Less less = {}) {
  std::vector<pid_t> threads;
  std::set_difference(listed.begin(), listed.end(), known.begin(), known.end(), std::back_inserter(threads),
                      less);
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

/// A line of /proc/PID/maps (proc_pid_maps(5)).
struct MappedPiece {
  uint64_t start = 0, end = 0, fileOffset = 0, inode = 0;
  uint32_t major = 0, minor = 0;
  bool readable = false;
  std::string path;  ///< empty: anonymous; "[heap]", ...
};
/// By address; empty where the process is gone or another user's.
std::vector<MappedPiece> mappingsOf(pid_t pid);

/// The 8 bytes at an address of the process; nullopt where it does not let them be read.
std::optional<uint64_t> wordAt(pid_t pid, uint64_t address);

/// Whether the process has [address, address + length) mapped for reading.
bool isMapped(pid_t pid, uint64_t address, uint64_t length);

}  // namespace cacheline::record
