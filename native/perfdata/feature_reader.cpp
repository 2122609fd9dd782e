// The header features of a recording: from bytes to values.
#include "perfdata/feature_reader.h"

#include <algorithm>

#include "perfdata/format.h"

namespace cacheline::perfdata {
namespace {

std::vector<std::string> takeStrings(ByteCursor& in) {
  std::vector<std::string> strings;
  const auto count = in.take<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string text = in.takeString();
    if (in.ok()) strings.push_back(std::move(text));
  }
  return strings;
}

void takeBuildIds(ByteCursor& in, std::vector<BuildIdEntry>& buildIds) {
  while (in.ok() && in.left() > 0) {
    in.take<uint32_t>();  // a record's type, which means nothing here
    const auto misc = in.take<uint16_t>();
    const auto entrySize = in.take<uint16_t>();
    const auto pid = in.take<int32_t>();
    const auto id = in.take(kMaxBuildIdBytes + 4);
    if (!in.ok() || entrySize < kBuildIdEntrySize) return in.fail();  // the next entry cannot be found
    const auto path = in.take(entrySize - kBuildIdEntrySize);
    if (!in.ok()) return;
    // Before the size was written, shorter ids (16 bytes of MD5, ...) were padded with zeros.
    size_t size = kMaxBuildIdBytes;
    if ((misc & kMiscBuildIdSize) != 0) {
      size = std::min<size_t>(id[kMaxBuildIdBytes], kMaxBuildIdBytes);
    } else if (load<uint32_t>(&id[16]) == 0) {
      size = 16;
    }
    const auto* text = reinterpret_cast<const char*>(path.data());
    const int mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
    buildIds.push_back({pid, hexDigits(id.first(size)),
                        path.empty() ? "" : std::string(text, ::strnlen(text, path.size())),
                        mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL});
  }
}

void readEventNames(ByteCursor& in, std::vector<Event>& events) {
  const auto count = in.take<uint32_t>();
  const auto attrSize = in.take<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    in.take(attrSize);
    const auto idCount = in.take<uint32_t>();
    std::string name = in.takeString();
    in.take(size_t{idCount} * sizeof(uint64_t));
    if (in.ok() && i < events.size()) events[i].name = std::move(name);
  }
}

void readCpuTopology(ByteCursor& in, Features& features) {
  features.coreSiblings = takeStrings(in);
  features.threadSiblings = takeStrings(in);
  if (in.left() == 0) return;  // that was all once
  std::vector<CpuPlace>& places = features.cpuPlaces;
  for (uint32_t cpu = 0; cpu < features.cpusAvailable && in.ok(); ++cpu) {
    CpuPlace place;
    place.core = in.take<int32_t>();
    place.socket = in.take<int32_t>();
    if (in.ok()) places.push_back(place);
  }
  if (in.left() == 0) return;
  features.dieSiblings = takeStrings(in);
  for (size_t cpu = 0; cpu < places.size() && in.ok(); ++cpu) {
    const auto die = in.take<int32_t>();
    if (in.ok()) places[cpu].die = die;
  }
}

void readNumaTopology(ByteCursor& in, std::vector<NumaNode>& nodes) {
  const auto count = in.take<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    NumaNode node;
    node.node = in.take<uint32_t>();
    node.memTotalKb = in.take<uint64_t>();
    node.memFreeKb = in.take<uint64_t>();
    node.cpus = in.takeString();
    if (in.ok()) nodes.push_back(std::move(node));
  }
}

/// The memory blocks of each node, as bits; neighbours become one range.
void readMemoryTopology(ByteCursor& in, std::vector<MemoryNode>& nodes) {
  // No machine has memory in so many pieces, and a bitmap of every other bit would make 128 bytes of each of
  // its bytes.
  constexpr size_t kMostRanges = 1 << 16;
  if (in.take<uint64_t>() != 1) return;  // another version
  const auto blockSize = in.take<uint64_t>();
  const auto count = in.take<uint64_t>();
  size_t ranges = 0;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    MemoryNode node;
    node.node = static_cast<uint32_t>(in.take<uint64_t>());
    in.take<uint64_t>();  // the number of bits, which the bitmap starts with once more
    const auto bits = in.take<uint64_t>();
    for (uint64_t block = 0; block < bits && in.ok();) {
      const auto word = in.take<uint64_t>();
      for (uint32_t bit = 0; bit < 64 && block < bits; ++bit, ++block) {
        if ((word >> bit & 1) == 0) continue;
        const uint64_t start = block * blockSize, end = start + blockSize;
        if (!node.ranges.empty() && node.ranges.back().second == start) {
          node.ranges.back().second = end;
        } else if (++ranges > kMostRanges) {
          return in.fail();
        } else {
          node.ranges.emplace_back(start, end);
        }
      }
    }
    if (in.ok()) nodes.push_back(std::move(node));
  }
}

void readPmuMappings(ByteCursor& in, std::vector<std::pair<uint32_t, std::string>>& mappings) {
  const auto count = in.take<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    const auto type = in.take<uint32_t>();
    std::string name = in.takeString();
    if (in.ok()) mappings.emplace_back(type, std::move(name));
  }
}

void readGroups(ByteCursor& in, std::vector<EventGroup>& groups) {
  const auto count = in.take<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    EventGroup group;
    group.name = in.takeString();
    group.leader = in.take<uint32_t>();
    group.members = in.take<uint32_t>();
    if (in.ok()) groups.push_back(std::move(group));
  }
}

void readCaches(ByteCursor& in, std::vector<Cache>& caches) {
  if (in.take<uint32_t>() != 1) return;  // another version
  const auto count = in.take<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    Cache cache;
    cache.level = in.take<uint32_t>();
    cache.lineSize = in.take<uint32_t>();
    cache.sets = in.take<uint32_t>();
    cache.ways = in.take<uint32_t>();
    cache.type = in.takeString();
    cache.size = in.takeString();
    cache.cpus = in.takeString();
    if (in.ok()) caches.push_back(std::move(cache));
  }
}

void readHybridPmus(ByteCursor& in, std::vector<PmuCpus>& pmus) {
  const auto count = in.take<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    PmuCpus pmu;
    pmu.pmu = in.takeString();
    pmu.cpus = in.takeString();
    if (in.ok()) pmus.push_back(std::move(pmu));
  }
}

PmuCapabilities takeCapabilities(ByteCursor& in) {
  PmuCapabilities capabilities;
  const auto count = in.take<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string name = in.takeString();
    std::string value = in.takeString();
    if (in.ok()) capabilities.values.emplace_back(std::move(name), std::move(value));
  }
  return capabilities;
}

void readPmuCapabilities(ByteCursor& in, std::vector<PmuCapabilities>& all) {
  const auto count = in.take<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    PmuCapabilities capabilities = takeCapabilities(in);
    capabilities.pmu = in.takeString();
    if (in.ok()) all.push_back(std::move(capabilities));
  }
}

std::optional<Compression> takeCompression(ByteCursor& in) {
  Compression compression;
  compression.version = in.take<uint32_t>();
  compression.type = in.take<uint32_t>();
  compression.level = in.take<uint32_t>();
  compression.ratio = in.take<uint32_t>();
  compression.mmapBytes = in.take<uint32_t>();
  return in.ok() ? std::optional(compression) : std::nullopt;
}

std::optional<ClockData> takeClockData(ByteCursor& in) {
  if (in.take<uint32_t>() != 1) return std::nullopt;  // another version
  ClockData data;
  data.clockId = in.take<uint32_t>();
  data.wallNs = in.take<uint64_t>();
  data.clockNs = in.take<uint64_t>();
  return in.ok() ? std::optional(data) : std::nullopt;
}

void readInto(uint32_t bit, ByteCursor& in, Features& features, std::vector<Event>& events) {
  switch (bit) {
    case kFeatureBuildId:
      takeBuildIds(in, features.buildIds);
      break;
    case kFeatureHostname:
      features.hostname = in.takeString();
      break;
    case kFeatureOsRelease:
      features.osRelease = in.takeString();
      break;
    case kFeatureVersion:
      features.version = in.takeString();
      break;
    case kFeatureArch:
      features.arch = in.takeString();
      break;
    case kFeatureNrCpus:
      features.cpusAvailable = in.take<uint32_t>();
      features.cpusOnline = in.take<uint32_t>();
      break;
    case kFeatureCpuDesc:
      features.cpuDesc = in.takeString();
      break;
    case kFeatureCpuId:
      features.cpuId = in.takeString();
      break;
    case kFeatureTotalMem:
      features.totalMemKb = in.take<uint64_t>();
      break;
    case kFeatureCmdline:
      features.cmdline = takeStrings(in);
      break;
    case kFeatureEventDesc:
      readEventNames(in, events);
      break;
    case kFeatureCpuTopology:
      readCpuTopology(in, features);
      break;
    case kFeatureNumaTopology:
      readNumaTopology(in, features.numaNodes);
      break;
    case kFeaturePmuMappings:
      readPmuMappings(in, features.pmuMappings);
      break;
    case kFeatureSampleTime: {
      const auto first = in.take<uint64_t>();
      const auto last = in.take<uint64_t>();
      if (in.ok()) features.sampleTime = {first, last};
      break;
    }
    case kFeatureClockId:
      features.clockResolutionNs = in.take<uint64_t>();
      break;
    case kFeatureMemTopology:
      readMemoryTopology(in, features.memoryNodes);
      break;
    case kFeatureGroupDesc:
      readGroups(in, features.groups);
      break;
    case kFeatureCache:
      readCaches(in, features.caches);
      break;
    case kFeatureHybridTopology:
      readHybridPmus(in, features.hybridPmus);
      break;
    case kFeatureCpuPmuCaps: {
      PmuCapabilities capabilities = takeCapabilities(in);
      capabilities.pmu = "cpu";
      features.pmuCapabilities.push_back(std::move(capabilities));
      break;
    }
    case kFeaturePmuCaps:
      readPmuCapabilities(in, features.pmuCapabilities);
      break;
    case kFeatureCompressed:
      features.compression = takeCompression(in);
      break;
    case kFeatureClockData:
      features.clockData = takeClockData(in);
      break;
    case kFeatureCacheLineSize: {
      const auto size = in.take<uint32_t>();
      if (in.ok()) features.cacheLineSize = size;
      break;
    }
    default:
      break;  // its content is passed over
  }
}

}  // namespace

bool readFeature(uint32_t bit, std::span<const uint8_t> content, ByteOrder order, Features& features,
                 std::vector<Event>& events) {
  if (content.empty()) return true;  // the recorder could not find it out, or its bit says it all
  ByteCursor in(content, order);
  readInto(bit, in, features, events);
  return in.ok();
}

bool readBuildIds(std::span<const uint8_t> content, ByteOrder order, std::vector<BuildIdEntry>& buildIds) {
  ByteCursor in(content, order);
  takeBuildIds(in, buildIds);
  return in.ok();
}

}  // namespace cacheline::perfdata
