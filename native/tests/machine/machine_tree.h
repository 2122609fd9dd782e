// Made-up /sys and /proc in a temporary folder: machines with any number of NUMA nodes, and processes on
// them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine/topology.h"

namespace cacheline::machine::test {

/// Removed with everything in it at the end.
class MachineTree {
 public:
  MachineTree();
  ~MachineTree();
  MachineTree(const MachineTree&) = delete;
  MachineTree& operator=(const MachineTree&) = delete;

  Roots roots() const { return {path_ + "/sys", path_ + "/proc"}; }

  /// `path` is relative to the folder: "sys/devices/system/cpu/online". Replaces what is there.
  void write(const std::string& path, const std::string& text);
  void remove(const std::string& path);

  /// Packages of one node each, with `coresPerNode` cores of two CPUs: CPU n and n + nodes * coresPerNode, as
  /// Linux numbers Intel's. Each core has 48 KiB L1 data, 32 KiB L1 instruction and 2 MiB L2 caches; a
  /// package has 32 MiB of L3, whose ways the kernel does not know; all others have 12. A node has 16 GiB, 4
  /// GiB of them free.
  void makeMachine(uint32_t nodes, uint32_t coresPerNode);

  /// A thread that used so many ns so far and is on that CPU.
  struct Thread {
    int tid = 0;
    uint64_t ranNs = 0;
    uint32_t cpu = 0;
    std::string name = "worker";
  };
  /// A process with these threads and no others. Its own time is the sum of theirs and `endedNs`.
  void setProcess(int pid, const std::vector<Thread>& threads, const std::string& numaMaps,
                  uint64_t endedNs = 0);

 private:
  std::string path_;
};

}  // namespace cacheline::machine::test
