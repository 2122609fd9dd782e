// What was seen of processes: where their memory lay, and on which CPUs their threads ran.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "machine/node_memory.h"
#include "machine/topology.h"

namespace cacheline::machine {

/// Run time in ns by CPU.
using CpuTimes = std::map<uint32_t, uint64_t>;
/// Run time in ns by NUMA node; CPUs without a node are left out.
std::map<uint32_t, uint64_t> timesByNode(const CpuTimes& times, const Topology& topology);
uint64_t sumOf(const CpuTimes& times);

struct ThreadPlace {
  pid_t tid = 0, pid = 0;
  std::string name;  ///< untrusted
  CpuTimes ran;      ///< while it was watched
  /// For each of Placement::bins the CPU on which it ran most, empty where it did not run.
  std::vector<std::optional<uint32_t>> cpuOverTime;
};

struct ProcessPlace {
  pid_t pid = 0;
  std::string name;                  ///< untrusted
  std::vector<std::string> command;  ///< untrusted; empty: not known, or longer than 4096 bytes
  /// CPUs and nodes of memory that it may use (sched_setaffinity(2), cpuset(7)); empty: not known.
  std::vector<uint32_t> allowedCpus, allowedNodes;
  bool ended = false;
  uint64_t missedNs = 0;  ///< CPU time that no look saw: of threads that ended before the next one
};

/// A stretch of time.
struct TimeBin {
  std::optional<NodeMemory> memory;  ///< at the last look in it; empty: there was none
};

struct Placement {
  double seconds = 0;  ///< watched
  std::vector<ProcessPlace> processes;
  std::vector<ThreadPlace> threads;  ///< by run time, descending, ties by ascending id
  /// Threads that ended and had little of the run time: where there were very many, only the sum is kept.
  uint64_t unlistedThreads = 0;
  CpuTimes unlisted;
  /// Of all processes, at the look that found most; empty: not known.
  std::optional<NodeMemory> memory;
  std::string memoryReason;  ///< why it is not known, or less exact; empty: it is exact
  uint64_t threadLooks = 0, memoryLooks = 0;
  double binSeconds = 0;
  std::vector<TimeBin> bins;
};

}  // namespace cacheline::machine
