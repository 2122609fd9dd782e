// The machine as the kernel describes it: packages, NUMA nodes, cores, CPUs, and the caches with who shares
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cacheline::machine {

/// Folders of the kernel's file systems. Tests give others.
struct Roots {
  std::string sysfs = "/sys", procfs = "/proc";
};

/// An online CPU. Empty: the kernel does not say.
struct Cpu {
  uint32_t id = 0;
  std::optional<uint32_t> package, die, core;  ///< core numbers are unique within a die
  std::optional<uint32_t> node;
};

struct Cache {
  uint32_t level = 0;
  std::string type;                          ///< "Data", "Instruction", "Unified"
  std::optional<uint64_t> bytes, lineBytes;  ///< empty: the kernel does not say
  std::optional<uint64_t> ways;              ///< lines of a set; empty: likewise
  std::vector<uint32_t> cpus;                ///< online CPUs that share it, ascending
};

struct Node {
  uint32_t id = 0;
  std::vector<uint32_t> cpus;                      ///< online ones, ascending; empty: a node of memory alone
  std::optional<uint64_t> memoryBytes, freeBytes;  ///< empty: the kernel does not say
  /// To each node in the order of their ids, as the firmware's SLIT says: 10 is the node itself.
  std::vector<uint32_t> distances;
};

struct Topology {
  std::vector<Cpu> cpus;      ///< ascending by id
  std::vector<Cache> caches;  ///< by level, type and first CPU
  std::vector<Node> nodes;    ///< ascending by id; at least one
  bool numa = true;  ///< false: the kernel has no NUMA nodes, and `nodes` is one that holds everything

  /// Of a CPU; empty where it is not online or the kernel gives it no node.
  std::optional<uint32_t> nodeOf(uint32_t cpu) const;
  const Node* node(uint32_t id) const;  ///< null: there is none
};

/// Reads `sysfs`/devices/system/{cpu,node} (Documentation/ABI/stable/sysfs-devices-system-cpu and -node).
/// What is missing or malformed stays empty. Never throws.
Topology readTopology(const std::string& sysfs);

/// "0-2,5" of ascending numbers, as the kernel writes CPU lists.
std::string listText(const std::vector<uint32_t>& numbers);

}  // namespace cacheline::machine
