// Interpolation between anchors.
#include "heap/clock.h"

#include <algorithm>
#include <utility>

namespace cacheline::heap {

Clock::Clock(std::vector<heap_anchor> anchors) : identity_(false) {
  // The limit keeps the products below within 127 bits; it is 146 years.
  std::erase_if(anchors, [](const heap_anchor& anchor) { return anchor.ticks == 0 || anchor.ns >> 62 != 0; });
  std::sort(anchors.begin(), anchors.end(),
            [](const heap_anchor& a, const heap_anchor& b) { return a.ticks < b.ticks; });
  for (const heap_anchor& anchor : anchors) {
    if (anchors_.empty() || (anchor.ticks > anchors_.back().ticks && anchor.ns > anchors_.back().ns))
      anchors_.push_back(anchor);
    else
      dropped_++;
  }
}

uint64_t Clock::toNs(uint64_t ticks) const {
  if (identity_) return ticks;
  __extension__ using Wide = __int128;
  const auto after = std::upper_bound(anchors_.begin() + 1, anchors_.end() - 1, ticks,
                                      [](uint64_t value, const heap_anchor& a) { return value < a.ticks; });
  const heap_anchor& from = *(after - 1);
  const heap_anchor& to = *after;
  const Wide ns = static_cast<Wide>(from.ns) + (static_cast<Wide>(ticks) - static_cast<Wide>(from.ticks)) *
                                                   static_cast<Wide>(to.ns - from.ns) /
                                                   static_cast<Wide>(to.ticks - from.ticks);
  return static_cast<uint64_t>(std::clamp<Wide>(ns, 0, static_cast<Wide>(~uint64_t{0} - 1)));
}

}  // namespace cacheline::heap
