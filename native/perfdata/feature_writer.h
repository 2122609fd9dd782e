// The header features of a recording: from values to bytes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "perfdata/event.h"
#include "perfdata/features.h"

namespace cacheline::perfdata {

/// Feature bit and section bytes, ascending, of every feature that has data. EVENT_DESC needs the events'
/// names. CPU_TOPOLOGY holds exactly cpusAvailable places, because readers count on that; missing ones are
/// written as unknown (-1).
std::vector<std::pair<uint32_t, std::vector<uint8_t>>> featureSections(const Features& features,
                                                                       const std::vector<Event>& events);

}  // namespace cacheline::perfdata
