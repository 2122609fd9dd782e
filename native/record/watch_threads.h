// Threads and descendants of processes, from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace cacheline::record {

/// The threads of a process, ascending; empty where it is gone.
std::vector<pid_t> threadsOf(pid_t pid);

/// Whether it has a thread that has not ended.
bool isAlive(pid_t pid);

/// `pids` that are alive, and the living processes that they and their children started, ascending.
std::vector<pid_t> withDescendants(const std::vector<pid_t>& pids);

/// Whether the process has [address, address + length) mapped for reading.
bool isMapped(pid_t pid, uint64_t address, uint64_t length);

}  // namespace cacheline::record
