// The choice of lines that are summed.
#include "sharing/summed_lines.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace cacheline::sharing {

SummedLines::SummedLines(const EachTotal& each, const SharedLines& shared, Display display, size_t most) {
  const uint64_t all = metricOf(shared.tally, display);
  uint64_t listed = 0, others = 0;
  each([&](const LineTotal& line) {
    const uint64_t metric = metricOf(line, display);
    if (metric == 0) return;
    const bool isOther = !isListed(metric, shared, display);
    listed += isOther ? 0 : metric;
    others += isOther ? 1 : 0;
  });
  if (others == 0 || static_cast<double>(listed) >= kEnough * static_cast<double>(all)) return;
  if (others <= most) {
    all_ = true;
    lines_ = others;
    return;
  }
  HashMap<uint64_t, Block> blocks;
  each([&](const LineTotal& line) {
    const uint64_t metric = metricOf(line, display);
    if (metric == 0 || isListed(metric, shared, display)) return;
    Block& block = blocks[line.offset / kBlock];
    ++block.lines;
    block.loads += metric;
  });
  std::vector<Block> list;
  list.reserve(blocks.size());
  for (auto it = blocks.begin(); it != blocks.end(); ++it) {
    it.value().number = it->first;
    list.push_back(it->second);
  }
  leftLines_ = others;
  leftLoads_ = all - listed;
  choose(std::move(list), most);
}

/// Of blocks with as many a line those with more, then by position.
void SummedLines::choose(std::vector<Block> blocks, size_t most) {
  std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
    const uint64_t left = a.loads * b.lines, right = b.loads * a.lines;
    return left != right ? left > right : std::tuple(b.loads, a.number) < std::tuple(a.loads, b.number);
  });
  for (const Block& block : blocks) {
    if (lines_ != 0 && lines_ + block.lines > most) break;
    blocks_[block.number] = true;
    lines_ += block.lines;
    leftLines_ -= block.lines;
    leftLoads_ -= block.loads;
  }
}

std::vector<SelectedLine> selectSummed(const AccessTable& table, const analysis::LineSpaces& spaces,
                                       const SummedLines& summed, Display display,
                                       const std::vector<SelectedLine>& listed) {
  std::vector<SelectedLine> selected;
  if (summed.lines() == 0) return selected;
  std::set<const Line*> known;
  for (const SelectedLine& line : listed) known.insert(line.line);
  table.eachLine([&](const Line& line) {
    const uint64_t metric = metricOf(line.tally, display);
    if (summed.has(line.offset, metric) && !known.contains(&line)) selected.push_back({&line, metric});
  });
  sortLines(selected, spaces);
  return selected;
}

}  // namespace cacheline::sharing
