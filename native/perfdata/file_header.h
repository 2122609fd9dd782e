// The header of a file-mode perf.data: events with their ids, and where data and features are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "perfdata/event.h"
#include "perfdata/format.h"

namespace cacheline::perfdata {

struct FileHeader {
  std::vector<Event> events;
  FileSection data;  ///< cut to the file's end
  std::vector<std::pair<uint32_t, FileSection>>
      features;                       ///< feature bit and section, within the file, ascending
  std::vector<std::string> warnings;  ///< what of it is cut off or cannot be
};

/// Throws Error(unreadable), naming `name` and the file offset, where the bytes are no perf.data file that
/// can be read: pipe mode, foreign byte order, no events, sections outside of the file. Source of the format:
/// perf.data-file-format.txt of the Linux kernel's perf.
FileHeader readFileHeader(std::span<const uint8_t> file, const std::string& name);

}  // namespace cacheline::perfdata
