// Writes a perf.data file (file mode) that perf reads. What has been written is readable at any moment after
// open(), also when the process is killed: the header then says data size 0 and readers take the file's end.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "perfdata/event.h"
#include "perfdata/features.h"

namespace cacheline::perfdata {

class Writer {
 public:
  /// Creates or truncates `path`, writes header, attributes and ids. Throws Error(io).
  static std::unique_ptr<Writer> create(const std::string& path, const std::vector<Event>& events);
  ~Writer();

  /// Appends whole records (perf_event_header and body, of AUXTRACE its trace, too), in any number. Throws
  /// Error(io) with the path, errno's text and the bytes kept so far (disk full); the file stays readable up
  /// to the last whole record that was written.
  void append(std::span<const uint8_t> records);
  /// PERF_RECORD_FINISHED_ROUND: every record older than the newest of the previous round has been written.
  void finishedRound();
  /// Flushes to the file, so that a reader sees it. Throws Error(io).
  void flush();
  /// Writes the feature sections and the final header. Call once; without it the file is one that was cut
  /// short.
  void finish(const Features& features);
  uint64_t bytesWritten() const;  ///< of the data section

 private:
  struct Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cacheline::perfdata
