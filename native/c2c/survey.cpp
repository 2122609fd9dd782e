// Sums over all samples.
#include "c2c/survey.h"

#include <algorithm>
#include <vector>

namespace cacheline::c2c {

void Totals::add(const Totals& other) {
  tally.add(other.tally);
  attributed += other.attributed;
  filtered += other.filtered;
  cycles |= other.cycles;
  physical |= other.physical;
  peer |= other.peer;
  firstTime = std::min(firstTime, other.firstTime);
  lastTime = std::max(lastTime, other.lastTime);
}

std::optional<perfdata::AddressFilter> addressesOf(const LineTotals& all, const LineChoice& isWanted,
                                                   const Places& places, uint32_t lineSize) {
  constexpr size_t kMostStarts = size_t{1} << 21;
  const auto& deltas = places.deltas();
  std::vector<uint64_t> starts;
  for (size_t i = 0; i < all.size(); ++i) {
    const LineTotal& line = all[i];
    if (!isWanted(line)) continue;
    for (const uint64_t offset : {line.offset, line.offset ^ lineSize}) {
      auto delta = deltas.lower_bound({line.space, 0});
      if (delta == deltas.end() || delta->first != line.space) starts.push_back(offset);
      for (; delta != deltas.end() && delta->first == line.space && starts.size() <= kMostStarts; ++delta)
        starts.push_back(offset - delta->second);
    }
  }
  if (starts.size() > kMostStarts) return std::nullopt;
  perfdata::AddressFilter filter(lineSize, starts.size());
  for (const uint64_t start : starts) {
    filter.add(start);
    filter.add(start + lineSize - 1);  // of a mapping that does not begin with a line
  }
  return filter;
}

}  // namespace cacheline::c2c
