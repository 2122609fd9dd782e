// One record after the other: where a record ends, and what its end does not make sense of.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>

#include "base/error.h"
#include "perfdata/bytes.h"
#include "perfdata/format.h"

namespace cacheline::perfdata {

/// The header of the record at `at`, of which 8 bytes are there. They are read once: what has been checked of
/// it holds, even where another program writes to the file meanwhile.
inline perf_event_header loadHeader(const uint8_t* at, ByteOrder order) {
  auto word = load<uint64_t>(at);
  asm("" : "+r"(word));
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&word);
  return {load<uint32_t>(bytes, order), load<uint16_t>(bytes + 4, order), load<uint16_t>(bytes + 6, order)};
}

/// A record was whole when the file was walked over and is not any more. Whoever knows the file's name says
/// it.
class RecordChanged : public Error {
 public:
  RecordChanged() : Error(ErrorKind::unreadable, "a recording was changed while it was read") {}
};

/// The header of a record that was whole before. Throws RecordChanged where it does not end before `end` now.
inline perf_event_header loadHeaderAgain(const uint8_t* at, const uint8_t* end, ByteOrder order) {
  const auto left = static_cast<uint64_t>(end - at);
  if (left >= sizeof(perf_event_header)) {
    const perf_event_header header = loadHeader(at, order);
    if (header.size >= sizeof header && header.size <= left) [[likely]]
      return header;
  }
  throw RecordChanged();
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
  uint64_t size = 0;           ///< bytes with the tail: of what `cut` needs, as far as that can be told
  perf_event_header header{};  ///< of a whole record
  std::string problem;         ///< "says it has 3 bytes, ...": unless whole
};

/// The extent of the record at `at`, of which `left` bytes are there.
RecordExtent extentOf(const uint8_t* at, uint64_t left, ByteOrder order);

}  // namespace cacheline::perfdata
