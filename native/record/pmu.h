// The performance monitoring units the kernel offers, and which of them sample memory accesses.
#pragma once

#include <cstdint>
#include <optional>
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

/// A PMU that samples memory accesses with their addresses.
struct MemoryPmu {
  Pmu pmu;
  std::string event;    ///< "cpu/mem-loads/", "ibs_op//", "arm_spe_0//"
  uint64_t config = 0;  ///< as the PMU's events folder gives it
  uint64_t config1 = 0;
};

/// Intel cores with the mem-loads event, AMD's ibs_op, Arm's SPE; nullopt where there is none.
std::optional<MemoryPmu> findMemoryPmu(const std::string& folder = kPmuFolder);

}  // namespace cacheline::record
