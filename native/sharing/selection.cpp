// The choice and order of lines and rows.
#include "sharing/selection.h"

#include <algorithm>
#include <tuple>

namespace cacheline::sharing {

namespace {

/// What decides between rows of one offset: first this, then that.
std::pair<uint64_t, uint64_t> rank(const RowTally& tally, Display display) {
  switch (display) {
    case Display::local:
      return {tally[RowCounter::localHitm], tally[RowCounter::remoteHitm]};
    case Display::remote:
      return {tally[RowCounter::remoteHitm], tally[RowCounter::localHitm]};
    default:
      return {metricOf(tally, display), 0};
  }
}

uint64_t metricOf(Display display, uint64_t localHitm, uint64_t remoteHitm, uint64_t peer) {
  switch (display) {
    case Display::total:
      return localHitm + remoteHitm;
    case Display::local:
      return localHitm;
    case Display::remote:
      return remoteHitm;
    case Display::peer:
      return peer;
  }
  return 0;
}

}  // namespace

uint64_t metricOf(const RowTally& tally, Display display) {
  return metricOf(display, tally[RowCounter::localHitm], tally[RowCounter::remoteHitm], tally.peer());
}

uint64_t metricOf(const Tally& tally, Display display) {
  return metricOf(display, tally[Counter::localHitm], tally[Counter::remoteHitm],
                  tally[Counter::localPeer] + tally[Counter::remotePeer]);
}

void SharedLines::add(const LineTotal& line) {
  if (sharedLoads(line) == 0) return;
  RowTally sum;
  sum.add(line.counts);
  ++lines;
  loads += line.loads;
  locked += line.locked;
  blocked += line.blocked;
  tally.add(sum);
}

uint64_t metricOf(const LineTotal& line, Display display) {
  const auto at = [&line](RowCounter counter) -> uint64_t {
    return line.counts[static_cast<size_t>(counter)];
  };
  return metricOf(display, at(RowCounter::localHitm), at(RowCounter::remoteHitm),
                  at(RowCounter::localPeer) + at(RowCounter::remotePeer));
}

uint64_t metricOf(const AggregateSums& sums, Display display) {
  return metricOf(display, sums[SumCounter::localHitm], sums[SumCounter::remoteHitm],
                  uint64_t{sums[SumCounter::localPeer]} + sums[SumCounter::remotePeer]);
}

uint64_t sharedLoads(const LineTotal& line) {
  RowTally sum;
  sum.add(line.counts);
  return sum.hitm() + sum.peer();
}

bool isListed(uint64_t metric, const SharedLines& shared, Display display) {
  return metric != 0 &&
         static_cast<double>(metric) / static_cast<double>(metricOf(shared.tally, display)) >= kListedShare;
}

void sortLines(std::vector<SelectedLine>& lines, const analysis::LineSpaces& spaces) {
  std::sort(lines.begin(), lines.end(), [&](const SelectedLine& a, const SelectedLine& b) {
    if (a.metric != b.metric) return a.metric > b.metric;
    if (a.line->address != b.line->address) return a.line->address < b.line->address;
    if (a.line->space != b.line->space) return spaces.isBefore(a.line->space, b.line->space);
    return a.line->offset < b.line->offset;
  });
}

std::vector<SelectedLine> selectLines(const AccessTable& table, const analysis::LineSpaces& spaces,
                                      const SharedLines& shared, Display display, bool all) {
  std::vector<SelectedLine> selected;
  table.eachLine([&](const Line& line) {
    const uint64_t metric = metricOf(line.tally, display);
    if (all || isListed(metric, shared, display)) selected.push_back({&line, metric});
  });
  sortLines(selected, spaces);
  return selected;
}

std::vector<SelectedRow> rowsOf(const AccessTable& table, const Line& line, Display display) {
  std::vector<SelectedRow> rows;
  for (uint32_t index = line.firstRow; index != kNone; index = table.row(index).next) {
    SelectedRow row;
    row.row = &table.row(index);
    row.number = static_cast<uint32_t>(rows.size());
    row.tally = table.tally(*row.row);
    rows.push_back(row);
  }
  std::reverse(rows.begin(), rows.end());
  std::stable_sort(rows.begin(), rows.end(), [display](const SelectedRow& a, const SelectedRow& b) {
    if (a.row->offset != b.row->offset) return a.row->offset < b.row->offset;
    return rank(a.tally, display) > rank(b.tally, display);
  });
  return rows;
}

}  // namespace cacheline::sharing
