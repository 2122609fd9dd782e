// The way of the records from their source into the file, with what is counted on it.
#pragma once

#include <cstdint>
#include <span>

#include "perfdata/writer.h"
#include "record/build_ids.h"
#include "record/source.h"

namespace cacheline::record {

struct StreamCounts {
  uint64_t samples = 0;                      ///< of Arm SPE: records of operations
  uint64_t lost = 0;                         ///< records the kernel had no room for
  uint64_t throttled = 0;                    ///< times the kernel held sampling back
  uint64_t traceBytes = 0;                   ///< of AUX areas
  uint64_t firstSample = 0, lastSample = 0;  ///< times in ns; 0: no sample
};

class RecordStream {
 public:
  /// References are kept.
  RecordStream(Source& source, perfdata::Writer& writer, BuildIds& buildIds)
      : source_(source), writer_(writer), buildIds_(buildIds) {}

  /// Empties the source once: one round of the file's time ordering. Throws Error(io).
  void drain();
  /// Writes how many records were lost of which none tells: the kernel tells of them with the next one that
  /// finds room. For the end, when none comes any more. Throws Error(io).
  void tellLost();
  /// Records that come from elsewhere.
  void append(std::span<const uint8_t> records);
  const StreamCounts& counts() const { return counts_; }

 private:
  void look(std::span<const uint8_t> records);

  Source& source_;
  perfdata::Writer& writer_;
  BuildIds& buildIds_;
  StreamCounts counts_;
  uint64_t lostTold_ = 0;  // by PERF_RECORD_LOST and by tellLost()
};

}  // namespace cacheline::record
