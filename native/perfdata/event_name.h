// What to call an event whose recording does not say.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cacheline::perfdata {

/// "cycles:u", "L1-dcache-load-misses", "ibs_op/config=0x80000/", ...: the words that perf takes for such an
/// event. `pmuMappings` (type, name) names the types of a machine's own PMUs.
std::string eventName(const perf_event_attr& attr,
                      const std::vector<std::pair<uint32_t, std::string>>& pmuMappings);

}  // namespace cacheline::perfdata
