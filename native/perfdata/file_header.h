// The first bytes of a perf.data: its byte order and mode; of a file also its events with their ids, and
// where data and features are.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "perfdata/bytes.h"
#include "perfdata/event.h"
#include "perfdata/format.h"

namespace cacheline::perfdata {

struct FileHeader {
  ByteOrder order = ByteOrder::native;
  bool pipe = false;          ///< events and features come as records: see pipe_header.h
  bool unfinished = false;    ///< the recorder did not live to write the end of the header
  std::vector<Event> events;  ///< empty in pipe mode
  FileSection data;           ///< cut to the file's end
  std::vector<std::pair<uint32_t, FileSection>>
      features;  ///< feature bit and section, within the file, ascending; a section may be empty
  std::vector<std::string> warnings;  ///< what of it is cut off or cannot be

  bool hasFeature(uint32_t bit) const {
    for (const auto& [known, section] : features) {
      if (known == bit) return true;
    }
    return false;
  }
};

/// Throws Error(unreadable), naming `name` and the file offset, where the bytes are no perf.data file that
/// can be read: no events, sections outside of the file. Source of the format: perf.data-file-format.txt of
/// the Linux kernel's perf.
FileHeader readFileHeader(std::span<const uint8_t> file, const std::string& name);

}  // namespace cacheline::perfdata
