// The header features of a recording, as values. The writer turns them into bytes, the reader back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cacheline::perfdata {

struct BuildIdEntry {
  int32_t pid = -1;     ///< -1: user space, any process
  std::string buildId;  ///< lower-case hex, up to 40 digits
  std::string path;
  bool kernel = false;
};

struct NumaNode {
  uint32_t node = 0;
  uint64_t memTotalKb = 0, memFreeKb = 0;
  std::string cpus;  ///< "0-1"
};

/// Physical memory of a node: [start, end) in bytes, ascending.
struct MemoryNode {
  uint32_t node = 0;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
};

struct CpuPlace {  ///< of one online CPU, by index
  int32_t core = -1, socket = -1, die = -1;
};

struct Features {
  std::string hostname, osRelease, version, arch, cpuDesc, cpuId;
  uint32_t cpusAvailable = 0, cpusOnline = 0;
  uint64_t totalMemKb = 0;
  std::vector<std::string> cmdline;
  std::vector<std::string> coreSiblings, dieSiblings, threadSiblings;  ///< cpu lists
  std::vector<CpuPlace> cpuPlaces;
  std::vector<NumaNode> numaNodes;
  std::vector<MemoryNode> memoryNodes;                        ///< kFeatureMemTopology
  std::vector<std::pair<uint32_t, std::string>> pmuMappings;  ///< type -> name
  std::vector<BuildIdEntry> buildIds;
  std::optional<std::pair<uint64_t, uint64_t>>
      sampleTime;                             ///< first, last sample, ns of the recording's clock
  std::optional<uint64_t> clockResolutionNs;  ///< kFeatureClockId
};

}  // namespace cacheline::perfdata
