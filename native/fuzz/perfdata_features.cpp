// libFuzzer over the header features: any bytes as the content of any feature, in either byte order. What is
// kept of them is bounded by what they are.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz/perfdata_seeds.h"
#include "perfdata/event_name.h"
#include "perfdata/feature_reader.h"

namespace {

using namespace cacheline::perfdata;

size_t ranges(const Features& features) {
  size_t count = 0;
  for (const MemoryNode& node : features.memoryNodes) count += node.ranges.size();
  return count;
}

}  // namespace

/// A seed is the feature's bit, a byte for the order, and the content.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace cacheline::perfdata::testing;
  const std::string corpus = emptyCorpus(*argc, *argv);
  if (corpus.empty()) return 0;
  for (const ByteOrder order : {ByteOrder::native, ByteOrder::foreign}) {
    for (const FeatureBytes& feature : seedFeatures(order)) {
      Bytes bytes = {static_cast<uint8_t>(feature.bit), static_cast<uint8_t>(order)};
      bytes.insert(bytes.end(), feature.content.begin(), feature.content.end());
      writeSeed(corpus, std::to_string(feature.bit) + (order == ByteOrder::native ? "-native" : "-foreign"),
                bytes);
    }
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const ByteOrder order = (data[1] & 1) == 0 ? ByteOrder::native : ByteOrder::foreign;
  Features features;
  features.cpusAvailable = 4;  // CPU_TOPOLOGY is as long as NRCPUS says
  std::vector<Event> events(2);
  readFeature(data[0], {data + 2, size - 2}, order, features, events);
  if (features.cmdline.size() + features.buildIds.size() + features.caches.size() + features.groups.size() +
          features.hybridPmus.size() + features.pmuCapabilities.size() + features.memoryNodes.size() >
      size)
    std::abort();
  if (ranges(features) > 8 * size) std::abort();
  for (Event& event : events) event.name += eventName(event.attr, features.pmuMappings);
  return 0;
}
