// Turns one record of the data section into a call of the visitor.
// Source of the layouts: the comments of enum perf_event_type in <linux/perf_event.h>.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <vector>

#include "perfdata/bytes.h"
#include "perfdata/reader.h"
#include "perfdata/sample_layout.h"

namespace cacheline::perfdata {

enum class Parsed {
  delivered,
  malformed,    ///< too short for what its type or sample type says it holds
  unknownEvent  ///< a sample whose id belongs to no event
};

class RecordParser {
 public:
  RecordParser(SampleLayouts& layouts, RecordVisitor& visitor) : layouts_(layouts), visitor_(visitor) {}

  /// Whether the visitor hears of records of this type; all others can be left where they are.
  static bool delivers(uint32_t type) { return type < 64 && ((kDelivered >> type) & 1) != 0; }
  /// The time of a record of a type that is delivered, in ns of the recording's clock; 0 where it carries
  /// none. `record` points to a perf_event_header and its `size` readable bytes.
  uint64_t timeOf(const uint8_t* record) {
    const auto header = load<perf_event_header>(record);
    const uint8_t* body = record + sizeof header;
    const uint8_t* end = record + header.size;
    return header.type == PERF_RECORD_SAMPLE ? layouts_.sampleTime(body, end)
                                             : layouts_.trailerOf(body, end).time;
  }
  /// Parses such a record and hands it to the visitor.
  Parsed deliver(const uint8_t* record);

 private:
  static constexpr uint64_t kDelivered = 1ull << PERF_RECORD_SAMPLE | 1ull << PERF_RECORD_MMAP |
                                         1ull << PERF_RECORD_MMAP2 | 1ull << PERF_RECORD_COMM |
                                         1ull << PERF_RECORD_FORK | 1ull << PERF_RECORD_EXIT |
                                         1ull << PERF_RECORD_LOST | 1ull << PERF_RECORD_LOST_SAMPLES;
  Parsed deliverSample(const uint8_t* body, const uint8_t* end, uint16_t misc);

  SampleLayouts& layouts_;
  RecordVisitor& visitor_;
  Sample sample_;                  ///< of the event of the sample before: only its fields are written again
  std::vector<uint64_t> aligned_;  ///< a call chain that is not aligned in the file
};

}  // namespace cacheline::perfdata
