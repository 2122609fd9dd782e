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

/// Physical memory of a node: [start, end) in bytes, ascending; multiples of the machine's memory block size
/// (128 MiB on most).
struct MemoryNode {
  uint32_t node = 0;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
};

struct CpuPlace {  ///< of one online CPU, by index
  int32_t core = -1, socket = -1, die = -1;
};

struct Cache {  ///< one of the machine's
  uint32_t level = 0;
  uint32_t lineSize = 0;  ///< bytes
  uint32_t sets = 0, ways = 0;
  std::string type, size, cpus;  ///< "Data", "32K", "0-1"
};

struct EventGroup {
  std::string name;
  uint32_t leader = 0, members = 0;  ///< index into the events, and how many of them
};

struct PmuCpus {  ///< of a machine with several kinds of cores
  std::string pmu, cpus;
};

struct PmuCapabilities {
  std::string pmu;  ///< "cpu" where the recorder knew of one only
  std::vector<std::pair<std::string, std::string>> values;
};

struct Compression {
  uint32_t version = 0, type = 0, level = 0;
  uint32_t ratio = 0;      ///< rounded
  uint32_t mmapBytes = 0;  ///< what a compressed record may hold
};

struct ClockData {  ///< one moment on two clocks
  uint32_t clockId = 0;
  uint64_t wallNs = 0, clockNs = 0;
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
  std::optional<ClockData> clockData;
  std::vector<Cache> caches;
  std::optional<uint32_t> cacheLineSize;  ///< bytes
  std::vector<EventGroup> groups;
  std::vector<PmuCpus> hybridPmus;
  std::vector<PmuCapabilities> pmuCapabilities;
  std::optional<Compression> compression;
};

}  // namespace cacheline::perfdata
