// The file around the samples: events with ids, header features, and those features Writer has no values for.
#include "recording_file.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include "base/error.h"
#include "perfdata/format.h"

namespace cacheline::synth {
namespace {

using perfdata::FileHeaderBytes;
using perfdata::FileSection;

class Section {
 public:
  template <typename T>
  Section& put(T value) {
    const auto* raw = reinterpret_cast<const char*>(&value);
    bytes_.append(raw, sizeof value);
    return *this;
  }
  Section& putString(const std::string& text) {
    const size_t padded = (text.size() / perfdata::kStringAlignment + 1) * perfdata::kStringAlignment;
    put(static_cast<uint32_t>(padded));
    bytes_ += text;
    bytes_.append(padded - text.size(), '\0');
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Version 1: block size, nodes; of each node its number, its count of blocks, and a bit for each block it
/// has.
Section memoryTopology() {
  constexpr uint64_t kBlock = uint64_t{128} << 20, kBlocks = kNodeBytes / kBlock, kNodes = 2;
  static_assert(kBlocks * kNodes == 64, "one word of bits holds all blocks");
  Section section;
  section.put<uint64_t>(1).put(kBlock).put(kNodes);
  for (uint64_t node = 0; node < kNodes; ++node) {
    const uint64_t blocks = kBlocks * (node + 1);
    section.put(node).put(blocks).put(blocks).put(((uint64_t{1} << kBlocks) - 1) << kBlocks * node);
  }
  return section;
}

template <typename T>
T readAt(std::fstream& file, uint64_t offset) {
  T value;
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}

}  // namespace

uint64_t idOf(uint64_t event, uint64_t cpu) {
  return 10'000 * (event + 1) + cpu;
}

std::vector<perfdata::Event> eventsOf(const Scenario& scenario, uint32_t cpus) {
  std::vector<perfdata::Event> events = scenario.events;
  for (size_t event = 0; event < events.size(); ++event)
    for (uint32_t cpu = 0; cpu < cpus; ++cpu) events[event].ids.push_back(idOf(event, cpu));
  return events;
}

perfdata::Features featuresOf(const Options& options, const Scenario& scenario, const Binary& binary,
                              uint64_t firstTime, uint64_t lastTime) {
  const std::string first = "0-" + std::to_string(options.cpus / 2 - 1);
  const std::string second = std::to_string(options.cpus / 2) + "-" + std::to_string(options.cpus - 1);
  perfdata::Features f;
  f.hostname = "synthetic";
  f.osRelease = "6.1.0";
  f.version = "6.1.0";
  f.arch = scenario.arch;
  f.cpuDesc = scenario.cpuDesc;
  f.cpuId = scenario.cpuId;
  f.cpusAvailable = f.cpusOnline = options.cpus;
  f.totalMemKb = 2 * kNodeBytes / 1024;
  f.cmdline = {"/usr/bin/perf", "c2c", "record", "-a", "--", "./worker"};
  f.coreSiblings = {first, second};
  for (uint32_t cpu = 0; cpu < options.cpus; ++cpu) {
    f.threadSiblings.push_back(std::to_string(cpu));
    const bool onFirst = cpu < options.cpus / 2;
    f.cpuPlaces.push_back({static_cast<int32_t>(onFirst ? cpu : cpu - options.cpus / 2), onFirst ? 0 : 1, 0});
  }
  if (scenario.nodes)
    f.numaNodes = {{0, kNodeBytes / 1024, kNodeBytes / 2048, first},
                   {1, kNodeBytes / 1024, kNodeBytes / 2048, second}};
  f.pmuMappings = {{1, "software"}, {4, "cpu"}};
  // The kernel is not the one of the machine that reads: its symbols must not be taken.
  f.buildIds = {{-1, "5e17e71c5e17e71c5e17e71c5e17e71c5e17e71c", "[kernel.kallsyms]", true}};
  if (!binary.buildId.empty()) f.buildIds.push_back({-1, binary.buildId, binary.path, false});
  f.sampleTime = {firstTime, lastTime};
  return f;
}

void addFeatures(const std::string& path, const Scenario& scenario) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  auto header = readAt<FileHeaderBytes>(file, 0);
  const uint64_t tableStart = header.data.offset + header.data.size;

  std::map<uint32_t, std::string> sections;
  uint64_t at = tableStart;
  for (uint32_t bit = 0; bit < perfdata::kFeatureCount; ++bit) {
    if ((header.features[bit / 64] >> bit % 64 & 1) == 0) continue;
    const auto place = readAt<FileSection>(file, at);
    at += sizeof place;
    std::string bytes(place.size, '\0');
    file.seekg(static_cast<std::streamoff>(place.offset));
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    sections[bit] = std::move(bytes);
  }
  if (scenario.physical) sections[perfdata::kFeatureMemTopology] = memoryTopology().bytes();
  if (!scenario.group.empty()) {
    Section groups;
    groups.put<uint32_t>(1).putString(scenario.group).put<uint32_t>(0).put<uint32_t>(2);
    sections[perfdata::kFeatureGroupDesc] = groups.bytes();
  }

  std::string table, contents;
  for (const auto& [bit, bytes] : sections) {
    const FileSection place{tableStart + sections.size() * sizeof(FileSection) + contents.size(),
                            bytes.size()};
    table.append(reinterpret_cast<const char*>(&place), sizeof place);
    contents += bytes;
    header.features[bit / 64] |= uint64_t{1} << bit % 64;
  }
  file.seekp(static_cast<std::streamoff>(tableStart));
  file << table << contents;
  file.seekp(0);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.close();
  if (!file) throw Error(ErrorKind::io, describeErrno("cannot add features to " + path, errno));
}

}  // namespace cacheline::synth
