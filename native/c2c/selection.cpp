// The choice and order of lines and rows.
#include "c2c/selection.h"

#include <algorithm>
#include <tuple>

namespace cacheline::c2c {

namespace {

constexpr double kLineLimit = 0.001;

uint64_t metricOf(const Line& line, Display display) {
  switch (display) {
    case Display::total:
      return uint64_t{line.localHitm} + line.remoteHitm;
    case Display::local:
      return line.localHitm;
    case Display::remote:
      return line.remoteHitm;
    case Display::peer:
      return line.peer;
  }
  return 0;
}

void addRow(const AccessTable& table, const Row& row, const SourceClasses& classes, Tally& tally) {
  for (uint32_t index = row.firstCell; index != kNone; index = table.cell(index).next)
    tally.add(classes[table.cell(index).sourceClass], table.cell(index).samples);
}

/// What decides between rows of one offset: first this, then that.
std::pair<uint64_t, uint64_t> rank(const Tally& tally, Display display) {
  switch (display) {
    case Display::local:
      return {tally[Counter::localHitm], tally[Counter::remoteHitm]};
    case Display::remote:
      return {tally[Counter::remoteHitm], tally[Counter::localHitm]};
    default:
      return {metricOf(tally, display), 0};
  }
}

}  // namespace

const char* displayName(Display display) {
  switch (display) {
    case Display::total:
      return "tot";
    case Display::local:
      return "lcl";
    case Display::remote:
      return "rmt";
    case Display::peer:
      return "peer";
  }
  return "";
}

uint64_t metricOf(const Tally& tally, Display display) {
  switch (display) {
    case Display::total:
      return tally.hitm();
    case Display::local:
      return tally[Counter::localHitm];
    case Display::remote:
      return tally[Counter::remoteHitm];
    case Display::peer:
      return tally.peer();
  }
  return 0;
}

Tally tallyOf(const AccessTable& table, const Line& line, const SourceClasses& classes) {
  Tally tally;
  for (uint32_t row = line.firstRow; row != kNone; row = table.row(row).next)
    addRow(table, table.row(row), classes, tally);
  return tally;
}

SharedLines sumShared(const Shards& shards, const SourceClasses& classes) {
  SharedLines shared;
  for (size_t i = 0; i < kShards; ++i) {
    const AccessTable& table = shards.table(i);
    for (uint32_t index = 0; index < table.lines(); ++index) {
      const Line& line = table.line(index);
      if (line.localHitm + line.remoteHitm + line.peer == 0) continue;
      ++shared.lines;
      shared.tally.add(tallyOf(table, line, classes));
    }
  }
  return shared;
}

std::vector<SelectedLine> selectLines(const Shards& shards, const SharedLines& shared, Display display,
                                      bool all) {
  const auto sum = static_cast<double>(metricOf(shared.tally, display));
  std::vector<SelectedLine> selected;
  for (size_t i = 0; i < kShards; ++i) {
    const AccessTable& table = shards.table(i);
    for (uint32_t index = 0; index < table.lines(); ++index) {
      const Line& line = table.line(index);
      const uint64_t metric = metricOf(line, display);
      if (all || (metric != 0 && static_cast<double>(metric) / sum >= kLineLimit))
        selected.push_back({&table, &line, metric});
    }
  }
  std::sort(selected.begin(), selected.end(), [](const SelectedLine& a, const SelectedLine& b) {
    if (a.metric != b.metric) return a.metric > b.metric;
    return std::tie(a.line->address, a.line->space) < std::tie(b.line->address, b.line->space);
  });
  return selected;
}

std::vector<SelectedRow> rowsOf(const SelectedLine& selected, const SourceClasses& classes, Display display) {
  std::vector<SelectedRow> rows;
  for (uint32_t index = selected.line->firstRow; index != kNone; index = selected.table->row(index).next) {
    SelectedRow row;
    row.row = &selected.table->row(index);
    addRow(*selected.table, *row.row, classes, row.tally);
    rows.push_back(std::move(row));
  }
  std::reverse(rows.begin(), rows.end());
  std::stable_sort(rows.begin(), rows.end(), [display](const SelectedRow& a, const SelectedRow& b) {
    if (a.row->offset != b.row->offset) return a.row->offset < b.row->offset;
    return rank(a.tally, display) > rank(b.tally, display);
  });
  return rows;
}

}  // namespace cacheline::c2c
