// Where the pages of a process lie, by NUMA node.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "machine/topology.h"

namespace cacheline::machine {

/// The rows of `numastat -p`.
enum class MemoryKind { huge, heap, stack, other };
inline constexpr size_t kMemoryKinds = 4;

/// Bytes of resident pages by node and kind.
using NodeMemory = std::map<uint32_t, std::array<uint64_t, kMemoryKinds>>;

uint64_t bytesOf(const std::array<uint64_t, kMemoryKinds>& kinds);
uint64_t bytesOf(const NodeMemory& memory);
void addTo(NodeMemory& sum, const NodeMemory& part);

/// The text of /proc/PID/numa_maps (proc_pid_numa_maps(5)): "N0=5" of a line are pages of the line's
/// kernelpagesize_kB, of `pageBytes` where it has none. A line with the word "huge" is hugetlb memory, with
/// "heap" or "stack" the main heap or stack, as numastat(8) sorts them. Malformed words are left out.
NodeMemory parseNumaMaps(std::string_view text, uint64_t pageBytes);

struct MemoryLook {
  std::optional<NodeMemory> memory;
  std::string reason;  ///< a clause: why `memory` is empty, or why it is less exact than numa_maps
};

/// Looks at `procfs`/PID/numa_maps. Where that cannot be read and the topology has one node, the resident set
/// of /proc/PID/statm is on it, as MemoryKind::other. Never throws.
MemoryLook memoryOf(pid_t process, const Roots& roots, const Topology& topology);

}  // namespace cacheline::machine
