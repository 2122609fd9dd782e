// Turns one record of the data section into a call of the visitor.
// Source of the layouts: the comments of enum perf_event_type in <linux/perf_event.h>.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <vector>

#include "perfdata/bytes.h"
#include "perfdata/reader.h"
#include "perfdata/record_header.h"
#include "perfdata/sample_layout.h"

namespace cacheline::perfdata {

enum class Parsed {
  delivered,
  malformed,    ///< too short for what its type or sample type says it holds
  unknownEvent  ///< a sample whose id belongs to no event
};

class RecordParser {
 public:
  RecordParser(SampleLayouts& layouts, RecordVisitor& visitor);

  /// Whether records of this type are delivered in time order; all others can be left where they are, or go
  /// to deliverTimeless().
  static bool delivers(uint32_t type) { return type < 64 && ((kDelivered >> type) & 1) != 0; }
  /// The time of a record of a type that is delivered, in ns of the recording's clock; 0 where it carries
  /// none. `record` points to `header` and its `size` readable bytes.
  template <ByteOrder kOrder>
  uint64_t timeOf(const perf_event_header& header, const uint8_t* record) {
    const uint8_t* body = record + sizeof header;
    const uint8_t* end = record + header.size;
    return header.type == PERF_RECORD_SAMPLE ? layouts_.sampleTime<kOrder>(body, end)
                                             : layouts_.trailerOf(body, end).time;
  }
  /// Parses such a record, which ends before `fileEnd`, and hands it to the visitor. `place`: its moment,
  /// where it has no time. Throws RecordChanged.
  template <ByteOrder kOrder>
  Parsed deliver(const uint8_t* record, const uint8_t* fileEnd, const Moment& place) {
    const perf_event_header header = loadHeaderAgain(record, fileEnd, kOrder);
    const uint8_t* body = record + sizeof header;
    const uint8_t* end = record + header.size;
    if (header.type != PERF_RECORD_SAMPLE) return deliverOther(header, body, end, place);
    const uint32_t event = layouts_.eventOf<kOrder>(body, end);
    if (event == SampleLayouts::kUnknownEvent) return Parsed::unknownEvent;
    Sample& sample = samples_[event];
    sample.misc = header.misc;
    if (!layouts_[event].parse<kOrder>(body, end, sample, aligned_)) return Parsed::malformed;
    sample.moment = momentOf(sample.time, place);
    visitor_.onSample(sample);
    return Parsed::delivered;
  }
  /// `header` is that of `record`: AUXTRACE_INFO, AUXTRACE with the bytes behind it up to `end`, TIME_CONV.
  /// `lasting`: see Auxtrace.
  Parsed deliverTimeless(const perf_event_header& header, const uint8_t* record, const uint8_t* end,
                         bool lasting);

 private:
  static constexpr uint64_t kDelivered =
      1ull << PERF_RECORD_SAMPLE | 1ull << PERF_RECORD_MMAP | 1ull << PERF_RECORD_MMAP2 |
      1ull << PERF_RECORD_COMM | 1ull << PERF_RECORD_FORK | 1ull << PERF_RECORD_EXIT |
      1ull << PERF_RECORD_LOST | 1ull << PERF_RECORD_LOST_SAMPLES | 1ull << PERF_RECORD_KSYMBOL |
      1ull << PERF_RECORD_AUX | 1ull << PERF_RECORD_ITRACE_START | 1ull << PERF_RECORD_SWITCH |
      1ull << PERF_RECORD_SWITCH_CPU_WIDE;
  static Moment momentOf(uint64_t time, const Moment& place) {
    return isTime(time) ? Moment{time, place.position} : place;
  }
  Parsed deliverOther(const perf_event_header& header, const uint8_t* body, const uint8_t* end,
                      const Moment& place);

  SampleLayouts& layouts_;
  RecordVisitor& visitor_;
  std::vector<Sample>
      samples_;  ///< one an event: its fields are written again, all others keep their defaults
  std::vector<uint64_t> aligned_;  ///< a call chain that cannot be used as the file has it
};

}  // namespace cacheline::perfdata
