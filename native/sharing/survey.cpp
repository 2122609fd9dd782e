// Sums over all samples.
#include "sharing/survey.h"

#include <algorithm>
#include <vector>

namespace cacheline::sharing {

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

std::optional<RowAddresses> addressesOf(const LineTotals& all, const LineChoice& choice, const Places& places,
                                        uint32_t lineSize) {
  constexpr size_t kMostStarts = size_t{1} << 21;
  const auto& deltas = places.deltas();
  std::vector<uint64_t> full, aggregateOnly;
  const auto add = [&](uint32_t space, uint64_t offset, std::vector<uint64_t>& starts) {
    auto delta = deltas.lower_bound({space, 0});
    if (delta == deltas.end() || delta->first != space) starts.push_back(offset);
    for (; delta != deltas.end() && delta->first == space && starts.size() <= kMostStarts; ++delta)
      starts.push_back(offset - delta->second);
  };
  for (size_t i = 0; i < all.size(); ++i) {
    const LineTotal& line = all[i];
    if (choice.full(line)) {
      add(line.space, line.offset, full);
      add(line.space, line.offset ^ lineSize, full);
    } else if (choice.aggregateOnly(line)) {
      add(line.space, line.offset, aggregateOnly);
    }
  }
  if (full.size() + aggregateOnly.size() > kMostStarts) return std::nullopt;
  RowAddresses addresses{{lineSize, full.size() + aggregateOnly.size()}, {lineSize, full.size()}};
  const auto put = [lineSize](const std::vector<uint64_t>& starts, perfdata::AddressFilter& filter) {
    for (const uint64_t start : starts) {
      filter.add(start);
      filter.add(start + lineSize - 1);  // of a mapping that does not begin with a line
    }
  };
  put(full, addresses.any);
  put(aggregateOnly, addresses.any);
  put(full, addresses.full);
  return addresses;
}

}  // namespace cacheline::sharing
