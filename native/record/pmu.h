// The performance monitoring units the kernel offers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cacheline::record {

struct Pmu {
  uint32_t type = 0;  ///< perf_event_attr.type
  std::string name;
};

inline constexpr const char* kPmuFolder = "/sys/bus/event_source/devices";

/// Every PMU under `folder`, sorted by name.
std::vector<Pmu> listPmus(const std::string& folder = kPmuFolder);

}  // namespace cacheline::record
