// The way of the records from the rings into the file, with what is counted on it.
#pragma once

#include <cstdint>
#include <span>

#include "perfdata/writer.h"
#include "record/build_ids.h"
#include "record/ring_buffer.h"

namespace cacheline::record {

struct StreamCounts {
  uint64_t samples = 0;
  uint64_t lost = 0;                         ///< records the kernel had no room for
  uint64_t throttled = 0;                    ///< times the kernel held sampling back
  uint64_t firstSample = 0, lastSample = 0;  ///< times in ns; 0: no sample
};

class RecordStream {
 public:
  /// References are kept.
  RecordStream(Rings& rings, perfdata::Writer& writer, BuildIds& buildIds)
      : rings_(rings), writer_(writer), buildIds_(buildIds) {}

  /// Empties every ring once: one round of the file's time ordering. Throws Error(io).
  void drain();
  const StreamCounts& counts() const { return counts_; }

 private:
  void look(std::span<const uint8_t> records);

  Rings& rings_;
  perfdata::Writer& writer_;
  BuildIds& buildIds_;
  StreamCounts counts_;
};

}  // namespace cacheline::record
