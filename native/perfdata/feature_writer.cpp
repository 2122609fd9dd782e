// The header features of a recording: from values to bytes.
#include "perfdata/feature_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>

#include "perfdata/format.h"

namespace cacheline::perfdata {
namespace {

class SectionBuilder {
 public:
  template <typename T>
  void put(const T& value) {
    putBytes({reinterpret_cast<const uint8_t*>(&value), sizeof value});
  }
  void putBytes(std::span<const uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void putPadded(const std::string& text) {
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    bytes_.resize(bytes_.size() + paddedSize(text) - text.size());
  }
  void putString(const std::string& text) {
    put(paddedSize(text));
    putPadded(text);
  }
  void putStrings(const std::vector<std::string>& texts) {
    putCount(texts.size());
    for (const std::string& text : texts) putString(text);
  }
  void putCount(size_t count) { put(static_cast<uint32_t>(count)); }
  std::vector<uint8_t> finish() { return std::move(bytes_); }

  /// With the NUL and the padding.
  static uint32_t paddedSize(const std::string& text) {
    return static_cast<uint32_t>((text.size() / kStringAlignment + 1) * kStringAlignment);
  }

 private:
  std::vector<uint8_t> bytes_;
};

/// The first digits of `hex` as bytes, kMaxBuildIdBytes at most.
std::vector<uint8_t> bytesOfHex(const std::string& hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 2 <= hex.size() && bytes.size() < kMaxBuildIdBytes; i += 2) {
    uint8_t byte = 0;
    const auto parsed = std::from_chars(&hex[i], &hex[i] + 2, byte, 16);
    if (parsed.ptr != &hex[i] + 2) break;
    bytes.push_back(byte);
  }
  return bytes;
}

void putBuildId(SectionBuilder& out, const BuildIdEntry& entry) {
  // The entry's size has 16 bits; no path that the kernel accepts comes near.
  const std::string path = entry.path.substr(0, 4095);
  const std::vector<uint8_t> id = bytesOfHex(entry.buildId);
  perf_event_header header{};
  header.misc = static_cast<uint16_t>((entry.kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) |
                                      kMiscBuildIdSize);
  header.size = static_cast<uint16_t>(kBuildIdEntrySize + SectionBuilder::paddedSize(path));
  std::array<uint8_t, kMaxBuildIdBytes + 4> field{};
  std::copy(id.begin(), id.end(), field.begin());
  field[kMaxBuildIdBytes] = static_cast<uint8_t>(id.size());
  out.put(header);
  out.put(entry.pid);
  out.putBytes(field);
  out.putPadded(path);
}

void putEventDescriptions(SectionBuilder& out, const std::vector<Event>& events) {
  out.putCount(events.size());
  out.putCount(sizeof(perf_event_attr));
  for (const Event& event : events) {
    out.put(event.attr);
    out.putCount(event.ids.size());
    out.putString(event.name);
    for (const uint64_t id : event.ids) out.put(id);
  }
}

void putCpuTopology(SectionBuilder& out, const Features& features) {
  std::vector<CpuPlace> places = features.cpuPlaces;
  places.resize(features.cpusAvailable);
  out.putStrings(features.coreSiblings);
  out.putStrings(features.threadSiblings);
  for (const CpuPlace& place : places) {
    out.put(place.core);
    out.put(place.socket);
  }
  if (features.dieSiblings.empty()) return;
  out.putStrings(features.dieSiblings);
  for (const CpuPlace& place : places) out.put(place.die);
}

void putNumaTopology(SectionBuilder& out, const std::vector<NumaNode>& nodes) {
  out.putCount(nodes.size());
  for (const NumaNode& node : nodes) {
    out.put(node.node);
    out.put(node.memTotalKb);
    out.put(node.memFreeKb);
    out.putString(node.cpus);
  }
}

/// The bytes that every start and end of a range is a multiple of: a power of two, 0 without ranges.
uint64_t memoryBlockSize(const std::vector<MemoryNode>& nodes) {
  uint64_t edges = 0;
  for (const MemoryNode& node : nodes) {
    for (const auto& [start, end] : node.ranges) edges |= start | end;
  }
  return edges & (~edges + 1);
}

/// A bit a block, as many as the highest end of a range asks for.
std::vector<uint64_t> memoryBitmap(const MemoryNode& node, uint64_t blockSize) {
  std::vector<uint64_t> words;
  for (const auto& [start, end] : node.ranges) {
    words.resize(std::max<size_t>(words.size(), end / blockSize / 64 + 1));
    for (uint64_t block = start / blockSize; block < end / blockSize; ++block) {
      words[block / 64] |= uint64_t{1} << (block % 64);
    }
  }
  return words;
}

void putMemoryTopology(SectionBuilder& out, const std::vector<MemoryNode>& nodes, uint64_t blockSize) {
  out.put(uint64_t{1});  // version
  out.put(blockSize);
  out.put(uint64_t{nodes.size()});
  for (const MemoryNode& node : nodes) {
    const std::vector<uint64_t> words = memoryBitmap(node, blockSize);
    const uint64_t bits = 64 * words.size();
    out.put(uint64_t{node.node});
    out.put(bits);
    out.put(bits);  // the bitmap starts with its size once more
    for (const uint64_t word : words) out.put(word);
  }
}

}  // namespace

std::vector<std::pair<uint32_t, std::vector<uint8_t>>> featureSections(const Features& features,
                                                                       const std::vector<Event>& events) {
  std::vector<std::pair<uint32_t, std::vector<uint8_t>>> sections;
  const auto add = [&](uint32_t bit, bool hasData, auto&& build) {
    if (!hasData) return;
    SectionBuilder out;
    build(out);
    sections.emplace_back(bit, out.finish());
  };
  const auto addString = [&](uint32_t bit, const std::string& text) {
    add(bit, !text.empty(), [&](SectionBuilder& out) { out.putString(text); });
  };

  add(kFeatureBuildId, !features.buildIds.empty(), [&](SectionBuilder& out) {
    for (const BuildIdEntry& entry : features.buildIds) putBuildId(out, entry);
  });
  addString(kFeatureHostname, features.hostname);
  addString(kFeatureOsRelease, features.osRelease);
  addString(kFeatureVersion, features.version);
  addString(kFeatureArch, features.arch);
  add(kFeatureNrCpus, features.cpusAvailable != 0 || features.cpusOnline != 0, [&](SectionBuilder& out) {
    out.put(features.cpusAvailable);
    out.put(features.cpusOnline);
  });
  addString(kFeatureCpuDesc, features.cpuDesc);
  addString(kFeatureCpuId, features.cpuId);
  add(kFeatureTotalMem, features.totalMemKb != 0, [&](SectionBuilder& out) { out.put(features.totalMemKb); });
  add(kFeatureCmdline, !features.cmdline.empty(),
      [&](SectionBuilder& out) { out.putStrings(features.cmdline); });
  const auto hasName = [](const Event& event) { return !event.name.empty(); };
  add(kFeatureEventDesc, std::any_of(events.begin(), events.end(), hasName),
      [&](SectionBuilder& out) { putEventDescriptions(out, events); });
  add(kFeatureCpuTopology,
      !features.coreSiblings.empty() || !features.threadSiblings.empty() || !features.cpuPlaces.empty(),
      [&](SectionBuilder& out) { putCpuTopology(out, features); });
  add(kFeatureNumaTopology, !features.numaNodes.empty(),
      [&](SectionBuilder& out) { putNumaTopology(out, features.numaNodes); });
  add(kFeaturePmuMappings, !features.pmuMappings.empty(), [&](SectionBuilder& out) {
    out.putCount(features.pmuMappings.size());
    for (const auto& [type, name] : features.pmuMappings) {
      out.put(type);
      out.putString(name);
    }
  });
  add(kFeatureSampleTime, features.sampleTime.has_value(), [&](SectionBuilder& out) {
    out.put(features.sampleTime->first);
    out.put(features.sampleTime->second);
  });
  const uint64_t blockSize = memoryBlockSize(features.memoryNodes);
  add(kFeatureMemTopology, blockSize != 0,
      [&](SectionBuilder& out) { putMemoryTopology(out, features.memoryNodes, blockSize); });
  add(kFeatureClockId, features.clockResolutionNs.has_value(),
      [&](SectionBuilder& out) { out.put(*features.clockResolutionNs); });
  return sections;
}

}  // namespace cacheline::perfdata
