// What opening a recording finds out: its files, byte order, events and features.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "perfdata/bytes.h"
#include "perfdata/event.h"
#include "perfdata/features.h"
#include "perfdata/format.h"

namespace cacheline::perfdata {

/// A file with records.
struct RecordFile {
  MappedFile mapped;  ///< empty where the bytes belong to the caller
  std::span<const uint8_t> bytes;
  std::string name;
  FileSection data;  ///< where in `bytes` the records are
};

struct Recording {
  /// One; in directory format the file `data`, with the header, and then each `data.N`.
  std::vector<RecordFile> files;
  ByteOrder order = ByteOrder::native;
  bool pipe = false, directory = false;
  std::vector<Event> events;  ///< never empty, each with a name
  Features features;
  std::vector<std::string> warnings;

  const std::string& name() const { return files.front().name; }
  uint64_t bytes() const;  ///< of all files
};

/// `path`: a file, or a folder in directory format (perf record --threads). Throws Error(unreadable), naming
/// the file and the offset.
Recording openRecording(const std::string& path);
/// The same over bytes in memory, which must outlive the Recording.
Recording openRecording(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace cacheline::perfdata
