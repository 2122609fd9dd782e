// Dropping of samples that two events took.
#include "record/one_voice.h"

#include <linux/perf_event.h>

#include <cstring>

namespace cacheline::record {
namespace {

// Places in our records (linux/perf_event.h): a sample has header, IDENTIFIER, IP, pid, tid; a FORK has
// header, pid, parent's pid, tid.
constexpr size_t kSampleIdAt = 8, kSampleThreadAt = 28, kForkThreadAt = 16;

template <typename Value>
Value fieldAt(std::span<const uint8_t> record, size_t offset) {
  Value value{};
  if (offset + sizeof value <= record.size()) std::memcpy(&value, record.data() + offset, sizeof value);
  return value;
}

}  // namespace

OneVoice::OneVoice(const std::vector<OpenEvent>& events) {
  for (const OpenEvent& event : events) {
    const auto thread = static_cast<uint32_t>(event.thread);
    ownerOfEvent_[event.id] = thread;
    voice_[thread] = thread;
  }
}

std::span<const uint8_t> OneVoice::filter(std::span<const uint8_t> records) {
  kept_.clear();
  while (!records.empty()) {
    const auto header = fieldAt<perf_event_header>(records, 0);
    if (header.size < sizeof header || header.size > records.size()) break;
    const std::span<const uint8_t> record = records.first(header.size);
    if (keeps(record)) kept_.insert(kept_.end(), record.begin(), record.end());
    records = records.subspan(header.size);
  }
  // What is no record is for the stream to complain of.
  kept_.insert(kept_.end(), records.begin(), records.end());
  return kept_;
}

bool OneVoice::keeps(std::span<const uint8_t> record) {
  const auto header = fieldAt<perf_event_header>(record, 0);
  if (header.type == PERF_RECORD_FORK)
    voice_.erase(fieldAt<uint32_t>(record, kForkThreadAt));  // a new thread
  if (header.type != PERF_RECORD_SAMPLE) return true;
  const auto owner = ownerOfEvent_.find(fieldAt<uint64_t>(record, kSampleIdAt));
  if (owner == ownerOfEvent_.end()) return true;
  return voice_.try_emplace(fieldAt<uint32_t>(record, kSampleThreadAt), owner->second).first->second ==
         owner->second;
}

}  // namespace cacheline::record
