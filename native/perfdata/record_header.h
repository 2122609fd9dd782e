// One record after the other: where a record ends, and what its end does not make sense of.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>

#include "perfdata/bytes.h"
#include "perfdata/format.h"

namespace cacheline::perfdata {

/// The header of the record at `at`, of which 8 bytes are there.
inline perf_event_header loadHeader(const uint8_t* at, ByteOrder order) {
  return {load<uint32_t>(at, order), load<uint16_t>(at + 4, order), load<uint16_t>(at + 6, order)};
}

/// Whether bytes that are no record follow a record of this type.
inline bool hasTail(uint32_t type) {
  return type == kRecordAuxtrace || type == kRecordHeaderTracingData;
}

/// Who walks over a file fetches what it will come to: each record says only where the next one is.
inline constexpr size_t kPrefetchBytes = 4096;
/// Steps from record to record. Nearly every record is as long as the one before it: taken for granted, that
/// lets a processor run ahead, which otherwise waits for each size to find the next record.
class Stride {
 public:
  const uint8_t* next(const uint8_t* at, uint16_t size) {
    if (size != usual_) [[unlikely]] {
      usual_ = size;
      return at + size;
    }
    uint64_t step = usual_;
    asm("" : "+r"(step));  // or the compiler takes `size`, which is the same
    return at + step;
  }

 private:
  uint64_t usual_ = 0;
};

/// Calls of a progress function for a file.
inline constexpr int kProgressSteps = 100;

/// How far the record at some place reaches.
struct RecordExtent {
  enum class Kind {
    whole,
    cut,     ///< its bytes are not all there
    damaged  ///< its header does not make sense
  };
  Kind kind = Kind::whole;
  uint64_t size = 0;    ///< bytes with the tail: of what `cut` needs, as far as that can be told
  std::string problem;  ///< "says it has 3 bytes, ...": unless whole
};

/// The extent of the record at `at`, of which `left` bytes are there.
RecordExtent extentOf(const uint8_t* at, uint64_t left, ByteOrder order);

}  // namespace cacheline::perfdata
