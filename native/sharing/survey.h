// What samples add up to, and where the lines are that are worth rows by that.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "perfdata/address_filter.h"
#include "sharing/data_source.h"
#include "sharing/line_totals.h"
#include "sharing/places.h"
#include "sharing/selection.h"
#include "sharing/summed_lines.h"

namespace cacheline::sharing {

/// Sums over samples.
struct Totals {
  Tally tally;
  uint64_t attributed = 0, filtered = 0;
  bool cycles = false, physical = false, peer = false;                      ///< whether samples carry them
  uint64_t firstTime = std::numeric_limits<uint64_t>::max(), lastTime = 0;  ///< of samples, ns
  void add(const Totals& other);
  double seconds() const {
    return lastTime > firstTime ? static_cast<double>(lastTime - firstTime) / 1e9 : 0;
  }
};

/// The statistics of a recording.
struct Survey {
  Totals totals;
  SharedLines shared;
  uint64_t lines = 0;
  SummedLines summed;  ///< where not all lines are listed
  void add(const LineTotal& line) {
    ++lines;
    shared.add(line);
  }
};

/// Of which lines there are to be rows, by their sums.
struct LineChoice {
  using Choose = std::function<bool(const LineTotal&)>;
  Choose full, aggregateOnly;
};

/// Of which addresses there will be rows.
struct RowAddresses {
  perfdata::AddressFilter any;
  perfdata::AddressFilter full;  ///< of these; the others' rows are aggregate-only
};

/// All addresses of the chosen lines, and of the neighbours of those with full rows; nullopt: too many for a
/// filter to leave out much. `lineSize`: bytes.
std::optional<RowAddresses> addressesOf(const LineTotals& all, const LineChoice& choice, const Places& places,
                                        uint32_t lineSize);

}  // namespace cacheline::sharing
