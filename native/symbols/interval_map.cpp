// A sweep over the intervals' starts with a heap of those that are open.
#include "symbols/interval_map.h"

#include <algorithm>
#include <queue>

namespace cacheline::symbols {

IntervalMap::IntervalMap(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& i) { return i.high <= i.low || i.id == kNoId; });
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.low < b.low; });
  auto loses = [&](size_t a, size_t b) {
    const Interval &x = intervals[a], &y = intervals[b];
    return x.priority != y.priority ? x.priority < y.priority : x.id > y.id;
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(loses)> open(loses);
  starts_.reserve(intervals.size() * 2);
  ids_.reserve(intervals.size() * 2);

  size_t next = 0;
  uint64_t position = 0;
  while (next < intervals.size() || !open.empty()) {
    if (open.empty()) position = intervals[next].low;
    while (next < intervals.size() && intervals[next].low <= position) open.push(next++);
    while (!open.empty() && intervals[open.top()].high <= position) open.pop();
    if (open.empty()) {
      append(position, kNoId);
      continue;
    }
    const Interval& winner = intervals[open.top()];
    append(position, winner.id);
    position = next < intervals.size() ? std::min(winner.high, intervals[next].low) : winner.high;
  }
  if (!starts_.empty() && ids_.back() != kNoId) append(position, kNoId);
  starts_.shrink_to_fit();
  ids_.shrink_to_fit();
}

void IntervalMap::append(uint64_t start, uint32_t id) {
  if (!ids_.empty() && ids_.back() == id) return;
  if (!starts_.empty() && starts_.back() == start) {
    ids_.back() = id;
    return;
  }
  starts_.push_back(start);
  ids_.push_back(id);
}

std::optional<uint32_t> IntervalMap::find(uint64_t address) const {
  auto after = std::upper_bound(starts_.begin(), starts_.end(), address);
  if (after == starts_.begin()) return std::nullopt;
  const uint32_t id = ids_[static_cast<size_t>(after - starts_.begin()) - 1];
  if (id == kNoId) return std::nullopt;
  return id;
}

}  // namespace cacheline::symbols
