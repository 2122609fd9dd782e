// Draining of the source.
#include "record/record_stream.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "perfdata/format.h"
#include "record/synthesize.h"
#include "spe/packet.h"

namespace cacheline::record {
namespace {

// Places in records (linux/perf_event.h, PERF_RECORD_*): a sample of any of our events starts with header,
// IDENTIFIER, IP, TID, TIME; LOST has its count after an id; LOST_SAMPLES at once;
// AUXTRACE has the number of trace bytes behind it, then their place.
constexpr size_t kSampleTimeAt = 32, kLostAt = 16, kLostSamplesAt = 8, kTraceBytesAt = 8, kTraceOffsetAt = 16;

uint64_t wordAt(std::span<const uint8_t> record, size_t offset) {
  uint64_t word = 0;
  if (offset + sizeof word <= record.size()) std::memcpy(&word, record.data() + offset, sizeof word);
  return word;
}

/// Arm SPE's records in a piece of trace data: each ends in a timestamp, or in an end packet without one.
uint64_t recordsIn(std::span<const uint8_t> trace, uint64_t auxOffset) {
  uint64_t records = 0;
  spe::Packet packet;
  for (; spe::parsePacket(trace, auxOffset, packet); trace = trace.subspan(packet.size)) {
    if (packet.kind == spe::PacketKind::timestamp || packet.kind == spe::PacketKind::end) records++;
    auxOffset += packet.size;
  }
  return records;
}

}  // namespace

void RecordStream::drain() {
  if (!source_.drain([this](std::span<const uint8_t> records) { append(records); })) return;
  writer_.finishedRound();
  writer_.flush();  // what a killed recorder leaves behind ends here
}

void RecordStream::tellLost() {
  const uint64_t lost = source_.lost().value_or(0);
  if (lost <= lostTold_) return;
  const uint64_t untold = lost - std::exchange(lostTold_, lost);
  std::vector<uint8_t> record(kLostSamplesAt + sizeof untold + sampleIdBytes(source_.events().front().attr));
  const perf_event_header header{PERF_RECORD_LOST_SAMPLES, 0, static_cast<uint16_t>(record.size())};
  std::memcpy(record.data(), &header, sizeof header);
  std::memcpy(record.data() + kLostSamplesAt, &untold, sizeof untold);
  append(record);
  writer_.flush();
}

void RecordStream::append(std::span<const uint8_t> records) {
  look(records);
  writer_.append(records);
}

void RecordStream::look(std::span<const uint8_t> records) {
  while (!records.empty()) {
    perf_event_header header{};
    if (records.size() >= sizeof header) std::memcpy(&header, records.data(), sizeof header);
    if (header.size < sizeof header || header.size > records.size())
      throw Error(ErrorKind::internal, "a source gives a record of " + std::to_string(header.size) +
                                           " bytes where " + std::to_string(records.size()) + " are left");
    const std::span<const uint8_t> record = records.first(header.size);
    size_t end = header.size;
    switch (header.type) {
      case PERF_RECORD_SAMPLE: {
        const uint64_t time = wordAt(record, kSampleTimeAt);
        counts_.firstSample = counts_.samples == 0 ? time : std::min(counts_.firstSample, time);
        counts_.lastSample = std::max(counts_.lastSample, time);
        counts_.samples++;
        break;
      }
      case PERF_RECORD_MMAP2:
        buildIds_.onMmap2(record);
        break;
      case PERF_RECORD_LOST:
        counts_.lost += wordAt(record, kLostAt);
        lostTold_ += wordAt(record, kLostAt);
        break;
      case PERF_RECORD_LOST_SAMPLES:
        counts_.lost += wordAt(record, kLostSamplesAt);
        break;
      case PERF_RECORD_THROTTLE:
        counts_.throttled++;
        break;
      case perfdata::kRecordAuxtrace: {
        const uint64_t trace = wordAt(record, kTraceBytesAt);
        if (trace > records.size() - end)
          throw Error(ErrorKind::internal, "a source gives " + std::to_string(records.size() - end) +
                                               " bytes of a trace of " + std::to_string(trace));
        counts_.traceBytes += trace;
        counts_.samples +=
            recordsIn(records.subspan(end, static_cast<size_t>(trace)), wordAt(record, kTraceOffsetAt));
        end += static_cast<size_t>(trace);
        break;
      }
      default:
        break;
    }
    records = records.subspan(end);
  }
}

}  // namespace cacheline::record
