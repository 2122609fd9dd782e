// Sampled addresses in order, with sums, so that a range costs two searches.
#include "analysis/seen_code.h"

#include <algorithm>
#include <span>
#include <utility>

namespace cacheline::analysis {

void SeenCode::onSample(const perfdata::Sample& sample) {
  ++found_[Key{sample.ip, sample.pid, sample.tid}];
  if (sample.registers.has(kRegR14)) ++ofR14_[R14Key{sample.registers.value[kRegR14], sample.pid}];
}

void SeenCode::add(const SeenCode& other) {
  for (const auto& [key, samples] : other.found_) found_[key] += samples;
  for (const auto& [key, samples] : other.ofR14_) ofR14_[key] += samples;
}

void SeenCode::finish() {
  sorted_.reserve(found_.size() + 1);
  for (const auto& [key, samples] : found_) sorted_.push_back({key, samples});
  found_ = {};
  std::sort(sorted_.begin(), sorted_.end(),
            [](const Place& a, const Place& b) { return a.key.order() < b.key.order(); });
  uint64_t sum = 0;
  sorted_.emplace_back();
  for (Place& place : sorted_) sum += std::exchange(place.before, sum);
}

size_t SeenCode::firstFrom(const Key& key) const {
  const auto end = sorted_.end() - 1;
  const auto it = std::lower_bound(sorted_.begin(), end, key, [](const Place& place, const Key& wanted) {
    return place.key.order() < wanted.order();
  });
  return static_cast<size_t>(it - sorted_.begin());
}

uint64_t SeenCode::count(uint32_t pid, uint32_t tid, uint64_t from, uint64_t to) const {
  if (from >= to) return 0;
  return sorted_[firstFrom({to, pid, tid})].before - sorted_[firstFrom({from, pid, tid})].before;
}

std::vector<std::pair<uint32_t, uint32_t>> SeenCode::threads() const {
  std::vector<std::pair<uint32_t, uint32_t>> list;
  for (const Place& place : std::span(sorted_).first(sorted_.size() - 1))
    if (const std::pair thread(place.key.pid, place.key.tid); list.empty() || list.back() != thread)
      list.push_back(thread);
  return list;
}

uint64_t SeenCode::countOfR14(uint32_t pid, uint64_t value) const {
  const auto it = ofR14_.find(R14Key{value, pid});
  return it == ofR14_.end() ? 0 : it->second;
}

}  // namespace cacheline::analysis
