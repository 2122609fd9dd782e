// Dropping of what two events recorded of one thread.
#include "record/one_voice.h"

#include <linux/perf_event.h>

#include <cstring>

#include "record/record_fields.h"

namespace cacheline::record {
namespace {

// Places in our records (linux/perf_event.h): a sample has header, IDENTIFIER, IP, pid, tid; a FORK has
// header, pid, creator's pid, tid, creator's tid; a SWITCH has header and sample_id alone, which begins with
// pid and tid. All records but samples end with their IDENTIFIER.
constexpr size_t kSampleIdAt = 8, kSampleThreadAt = 28, kSwitchThreadAt = 12;

size_t idAt(std::span<const uint8_t> record, uint32_t type) {
  return type == PERF_RECORD_SAMPLE ? kSampleIdAt : record.size() - sizeof(uint64_t);
}
constexpr size_t kForkProcessAt = 8, kForkCreatorsProcessAt = 12, kForkThreadAt = 16, kForkCreatorAt = 20;

}  // namespace

OneVoice::OneVoice(const std::vector<OpenEvent>& events) {
  for (const OpenEvent& event : events) {
    const auto thread = static_cast<uint32_t>(event.thread);
    ownerOfEvent_[event.id] = thread;
    voice_[thread] = thread;
    creators_.insert(thread);
  }
}

void OneVoice::add(const OpenEvent& event, uint64_t as) {
  const auto thread = static_cast<uint32_t>(event.thread);
  ownerOfEvent_[event.id] = thread;
  renamed_[event.id] = as;
  creators_.insert(thread);
}

std::span<const uint8_t> OneVoice::filter(std::span<const uint8_t> records) {
  kept_.clear();
  while (!records.empty()) {
    const auto header = fieldAt<perf_event_header>(records, 0);
    if (header.size < sizeof header || header.size > records.size()) break;
    const std::span<const uint8_t> record = records.first(header.size);
    if (keeps(record)) {
      kept_.insert(kept_.end(), record.begin(), record.end());
      if (!renamed_.empty()) rename(std::span(kept_).last(record.size()));
    }
    records = records.subspan(header.size);
  }
  // What is no record is for the stream to complain of.
  kept_.insert(kept_.end(), records.begin(), records.end());
  return kept_;
}

bool OneVoice::keeps(std::span<const uint8_t> record) {
  const auto header = fieldAt<perf_event_header>(record, 0);
  if (header.type == PERF_RECORD_FORK) {
    const auto thread = fieldAt<uint32_t>(record, kForkThreadAt);
    voice_.erase(thread);  // a new one
    if (creators_.erase(fieldAt<uint32_t>(record, kForkCreatorAt)) > 0)
      doubtful_.push_back(
          {static_cast<pid_t>(thread),
           fieldAt<uint32_t>(record, kForkProcessAt) != fieldAt<uint32_t>(record, kForkCreatorsProcessAt)});
  }
  const bool isSample = header.type == PERF_RECORD_SAMPLE;
  if (!isSample && header.type != PERF_RECORD_SWITCH) return true;
  const auto owner = ownerOfEvent_.find(fieldAt<uint64_t>(record, idAt(record, header.type)));
  if (owner == ownerOfEvent_.end()) return true;
  const auto thread = fieldAt<uint32_t>(record, isSample ? kSampleThreadAt : kSwitchThreadAt);
  return voice_.try_emplace(thread, owner->second).first->second == owner->second;
}

void OneVoice::rename(std::span<uint8_t> record) const {
  const auto header = fieldAt<perf_event_header>(record, 0);
  const size_t at = idAt(record, header.type);
  const auto as = renamed_.find(fieldAt<uint64_t>(record, at));
  if (as != renamed_.end() && at + sizeof as->second <= record.size())
    std::memcpy(record.data() + at, &as->second, sizeof as->second);
}

}  // namespace cacheline::record
