// Lives that overlap, joined.
#include "analysis/phases.h"

#include <algorithm>

namespace cacheline::analysis {

std::vector<uint64_t> phasesOf(std::vector<LifeSpan> workers) {
  std::ranges::sort(workers, {}, &LifeSpan::from);
  std::vector<uint64_t> begins{0};
  const auto begin = [&](uint64_t time) {
    if (time > begins.back()) begins.push_back(time);
  };
  const auto length = [](const LifeSpan& life) { return life.until - std::min(life.from, life.until); };
  const LifeSpan* last = nullptr;  // of the lives so far, the one that ends last
  for (const LifeSpan& life : workers) {
    if (last != nullptr) {
      const uint64_t late = std::min(kLateEnd, std::min(length(*last), length(life)) / 10);
      if (life.from >= last->until - std::min(late, last->until)) {
        begin(std::min(last->until, life.from));
        begin(life.from);
        last = &life;
        continue;
      }
    } else {
      begin(life.from);
    }
    if (last == nullptr || life.until > last->until) last = &life;
  }
  if (last != nullptr && last->until != LifeSpan().until) begin(last->until);
  return begins;
}

uint32_t phaseAt(const std::vector<uint64_t>& begins, uint64_t time) {
  const auto after = std::ranges::upper_bound(begins, time);
  return after == begins.begin() ? 0 : static_cast<uint32_t>(after - begins.begin() - 1);
}

}  // namespace cacheline::analysis
