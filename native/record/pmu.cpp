// Reads /sys/bus/event_source/devices (Documentation/ABI/testing/sysfs-bus-event_source-devices-*).
#include "record/pmu.h"

#include <optional>

#include "record/procfs.h"

namespace cacheline::record {

std::vector<Pmu> listPmus(const std::string& folder) {
  std::vector<Pmu> pmus;
  for (const std::string& name : listDirectory(folder)) {
    const std::optional<int64_t> type = readNumber(folder + "/" + name + "/type");
    if (type && *type >= 0) pmus.push_back({static_cast<uint32_t>(*type), name});
  }
  return pmus;
}

}  // namespace cacheline::record
