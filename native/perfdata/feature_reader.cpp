// The header features of a recording: from bytes to values.
#include "perfdata/feature_reader.h"

#include <algorithm>

#include "perfdata/bytes.h"
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

void readBuildIds(ByteCursor& in, std::vector<BuildIdEntry>& buildIds) {
  while (in.ok() && in.left() > 0) {
    const auto header = in.take<perf_event_header>();
    const auto pid = in.take<int32_t>();
    const auto id = in.take(kMaxBuildIdBytes + 4);
    if (!in.ok() || header.size < kBuildIdEntrySize) {
      in.take(in.left() + 1);  // the next entry cannot be found
      return;
    }
    const auto path = in.take(header.size - kBuildIdEntrySize);
    if (!in.ok()) return;
    // Before the size was written, shorter ids (16 bytes of MD5, ...) were padded with zeros.
    size_t size = kMaxBuildIdBytes;
    if ((header.misc & kMiscBuildIdSize) != 0) {
      size = std::min<size_t>(id[kMaxBuildIdBytes], kMaxBuildIdBytes);
    } else if (load<uint32_t>(&id[16]) == 0) {
      size = 16;
    }
    const auto* text = reinterpret_cast<const char*>(path.data());
    const int mode = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
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

void readPmuMappings(ByteCursor& in, std::vector<std::pair<uint32_t, std::string>>& mappings) {
  const auto count = in.take<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    const auto type = in.take<uint32_t>();
    std::string name = in.takeString();
    if (in.ok()) mappings.emplace_back(type, std::move(name));
  }
}

void readFeature(uint32_t bit, ByteCursor& in, Features& features, std::vector<Event>& events) {
  switch (bit) {
    case kFeatureBuildId:
      readBuildIds(in, features.buildIds);
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
    default:
      break;  // its section is passed over
  }
}

}  // namespace

Features readFeatures(std::span<const uint8_t> file, const std::string& name, FileHeader& header) {
  Features features;
  for (const auto& [bit, section] : header.features) {
    ByteCursor in(file.subspan(section.offset, section.size));
    readFeature(bit, in, features, header.events);
    if (!in.ok()) {
      header.warnings.push_back(name + ": header feature " + std::to_string(bit) + " at file offset " +
                                std::to_string(section.offset) + " says it holds more than its " +
                                std::to_string(section.size) + " bytes; what they hold is used");
    }
  }
  return features;
}

}  // namespace cacheline::perfdata
