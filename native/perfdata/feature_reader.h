// The header features of a recording: from bytes to values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "perfdata/bytes.h"
#include "perfdata/event.h"
#include "perfdata/features.h"

namespace cacheline::perfdata {

/// Reads the content of one feature into its place in `features`; EVENT_DESC gives `events` their names.
/// Features without a place there are passed over. False: the section says it holds more than it does; what
/// it holds is kept.
bool readFeature(uint32_t bit, std::span<const uint8_t> content, ByteOrder order, Features& features,
                 std::vector<Event>& events);

/// Build-id entries, one behind the other: the BUILD_ID section, or one HEADER_BUILD_ID record of a pipe.
bool readBuildIds(std::span<const uint8_t> content, ByteOrder order, std::vector<BuildIdEntry>& buildIds);

}  // namespace cacheline::perfdata
