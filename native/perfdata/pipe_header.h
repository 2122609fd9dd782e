// What a stream of records says of itself: in pipe mode events, features and build ids come as records.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "perfdata/bytes.h"
#include "perfdata/event.h"
#include "perfdata/features.h"
#include "perfdata/format.h"

namespace cacheline::perfdata {

struct StreamHeader {
  std::vector<Event> events;
  Features features;
  std::vector<std::string> warnings;
};

/// Walks over the records of `data`, a range of `file`, down to its end or to the first record whose size
/// does not make sense, and collects what they say: HEADER_ATTR, HEADER_EVENT_TYPE, EVENT_UPDATE,
/// HEADER_FEATURE, HEADER_BUILD_ID. Build ids are written when the recording ends, so that all of it must be
/// walked over. Throws Error(unreadable), naming `name` and the file offset, where an attribute is malformed
/// or there is none.
StreamHeader readStreamHeader(std::span<const uint8_t> file, const FileSection& data, ByteOrder order,
                              const std::string& name);

/// Gives events without a name the one that EVENT_UPDATE records before the first sample have for them: of a
/// file whose recorder was killed, that is the only place.
void nameEventsFromRecords(std::span<const uint8_t> file, const FileSection& data, ByteOrder order,
                           std::vector<Event>& events);

}  // namespace cacheline::perfdata
