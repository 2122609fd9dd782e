// Pairs of uses.
#include "analysis/use_pairs.h"

#include <algorithm>

namespace cacheline::analysis {

std::vector<UseCause> UsePairs::of(uint32_t use) const {
  const Use& waits = uses[use];
  std::vector<double> sums(uses.size()), causes(uses.size());
  double known = 0;
  auto at = std::ranges::lower_bound(places, use, {}, &Place::use);
  for (; at != places.end() && at->use == use; ++at) {
    const Place& own = *at;
    if (own.waiting <= 0) continue;
    std::ranges::fill(causes, 0);
    double whole = 0;
    for (const Place& other : places) {
      if (!compete[own.visitor][other.visitor] || !(waits.changes || uses[other.use].writes)) continue;
      causes[other.use] += other.samples;
      whole += other.samples;
    }
    if (whole <= 0) continue;
    known += own.waiting;
    for (size_t cause = 0; cause < causes.size(); ++cause) sums[cause] += own.waiting * causes[cause] / whole;
  }
  std::vector<UseCause> list;
  for (uint32_t cause = 0; cause < sums.size(); ++cause)
    if (sums[cause] > 0) list.push_back({cause, sums[cause] / known, falsely[waits.word][uses[cause].word]});
  return list;
}

}  // namespace cacheline::analysis
