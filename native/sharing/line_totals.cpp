// Sums by line.
#include "sharing/line_totals.h"

namespace cacheline::sharing {

void LineTotal::add(const LineTotal& other) {
  loads += other.loads;
  locked += other.locked;
  blocked += other.blocked;
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
}

void LineTotals::flush() {
  std::array<LineTotal*, std::tuple_size_v<decltype(pending_)>> guesses;
  for (size_t i = 0; i < waiting_; ++i) {
    const uint32_t index = index_.guess(pending_[i].hash);
    guesses[i] = index == kNone ? nullptr : &lines_[index];
    if (guesses[i] == nullptr) continue;
    const auto* const line = reinterpret_cast<const char*>(guesses[i]);
    __builtin_prefetch(line, 1);
    __builtin_prefetch(line + sizeof(LineTotal) - 1, 1);
  }
  for (size_t i = 0; i < waiting_; ++i) {
    const Pending& sample = pending_[i];
    LineTotal* line = guesses[i];
    if (line == nullptr || line->offset != sample.offset || line->space != sample.space) [[unlikely]]
      line = &findLine(sample.offset, sample.space, sample.hash);
    line->add(*sample.source);
  }
  waiting_ = 0;
}

LineTotal& LineTotals::findLine(uint64_t offset, uint32_t space, uint64_t hash) {
  const uint32_t found = index_.find(
      hash, [&](uint32_t at) { return lines_[at].offset == offset && lines_[at].space == space; });
  if (found != kNone) return lines_[found];
  LineTotal& line = lines_.add();
  line.offset = offset;
  line.space = space;
  index_.insert(hash, static_cast<uint32_t>(lines_.size() - 1),
                [this](uint32_t at) { return hashOf(lines_[at].offset, lines_[at].space); });
  return line;
}

void LineTotals::add(const LineTotals& other) {
  constexpr size_t kAhead = 8;
  for (size_t i = 0; i < other.size(); ++i) {
    if (i + kAhead < other.size()) index_.prefetch(hashOf(other[i + kAhead].offset, other[i + kAhead].space));
    add(other[i]);
  }
}

}  // namespace cacheline::sharing
