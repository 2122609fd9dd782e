// One recorded event: its attribute, its ids and its name.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cacheline::perfdata {

struct Event {
  perf_event_attr attr{};     ///< zero-extended where the file's attr is shorter, cut where longer
  std::vector<uint64_t> ids;  ///< one per opened file descriptor (CPU)
  std::string name;           ///< "cpu-clock:u", ...: what the recorder wrote, else made from the attribute
};

}  // namespace cacheline::perfdata
