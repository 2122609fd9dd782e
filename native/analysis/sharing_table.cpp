// The table of who touched what.
#include "analysis/sharing_table.h"

#include <algorithm>
#include <tuple>

namespace cacheline::analysis {

uint32_t SharingTable::lineOf(Position position, uint64_t address, bool& created) {
  const uint64_t inLine = position.offset % lineSize_;
  const LineKey lineKey{position.offset - inLine, position.space};
  const auto [line, newLine] = lineIndex_.try_emplace(lineKey, static_cast<uint32_t>(lines_.size()));
  created = newLine;
  if (newLine) {
    LineEntry entry;
    entry.offset = lineKey.offset;
    entry.space = lineKey.space;
    entry.address = address - inLine;
    lines_.push_back(entry);
  }
  return line->second;
}

uint32_t SharingTable::watch(Position position, uint64_t address, bool& created) {
  const uint32_t line = lineOf(position, address, created);
  lines_[line].address = std::min(lines_[line].address, address - position.offset % lineSize_);
  return line;
}

uint32_t SharingTable::useOf(const Touch& touch, bool& created) {
  const uint32_t line = lineOf(touch.position, touch.address, created);
  const UseKey useKey{line, touch.thread};
  const auto [use, newUse] = useIndex_.try_emplace(useKey, static_cast<uint32_t>(uses_.size()));
  if (newUse) {
    LineEntry& entry = lines_[line];
    Use fresh;
    fresh.line = line;
    fresh.thread = touch.thread;
    fresh.next = entry.firstUse;
    entry.firstUse = use->second;
    ++entry.uses;
    uses_.push_back(fresh);
  }
  return use->second;
}

void SharingTable::record(uint32_t index, uint64_t time) {
  Use& use = uses_[index];
  LineEntry& line = lines_[use.line];
  const bool continues = line.lastUse == index;
  line.lastUse = index;
  if (continues)
    use.runs.extend(time);
  else
    use.runs.begin(time);
}

LineEntry& SharingTable::add(const Touch& touch, bool& created) {
  const CellKey key{touch.position.offset, touch.position.space, touch.thread, touch.site, touch.cpu / 64};
  created = false;
  auto it = cells_.find(key);
  if (it == cells_.end()) {
    Cell cell;
    cell.use = useOf(touch, created);
    it = cells_.emplace(key, cell).first;
  }
  Cell& cell = it.value();
  ++cell.count;
  cell.cpus |= uint64_t{1} << (touch.cpu % 64);
  record(cell.use, touch.time);
  LineEntry& line = lines_[uses_[cell.use].line];
  line.address = std::min(line.address, touch.address - touch.position.offset % lineSize_);
  ++line.records;
  return line;
}

LineEntry& SharingTable::reach(const Touch& touch, uint32_t bytes, bool& created) {
  const uint32_t use = useOf(touch, created);
  record(use, touch.time);
  uint32_t& most = reaches_[ReachKey{use, touch.site}];
  most = std::max(most, bytes);
  return lines_[uses_[use].line];
}

uint32_t SharingTable::find(Position position) const {
  const auto it = lineIndex_.find(LineKey{position.offset - position.offset % lineSize_, position.space});
  return it == lineIndex_.end() ? kNone : it->second;
}

std::vector<SharingTable::CellView> SharingTable::cells(const std::vector<bool>& wanted) const {
  // Sorted by counting into the lines first: what is left to compare is short and close together.
  std::vector<uint32_t> begin(lines_.size() + 1);
  const auto each = [&](auto&& visit) {
    for (auto it = cells_.begin(); it != cells_.end(); ++it)
      if (const uint32_t line = uses_[it->second.use].line; wanted[line]) visit(line, it);
  };
  each([&](uint32_t line, const auto&) { ++begin[line + 1]; });
  for (size_t line = 0; line < lines_.size(); ++line) begin[line + 1] += begin[line];
  std::vector<CellView> views(begin.back());
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  each([&](uint32_t line, const auto& it) { views[next[line]++] = {&it->first, &it->second}; });
  const auto order = [](const CellView& view) {
    return std::tuple(view.key->offset, view.key->site, view.key->thread, view.key->cpuGroup);
  };
  for (size_t line = 0; line < lines_.size(); ++line)
    std::sort(views.begin() + begin[line], views.begin() + begin[line + 1],
              [&](const CellView& x, const CellView& y) { return order(x) < order(y); });
  return views;
}

std::vector<SharingTable::Reach> SharingTable::reaches() const {
  std::vector<Reach> list;
  for (const auto& [key, bytes] : reaches_) list.push_back({key.use, key.site, bytes});
  std::sort(list.begin(), list.end(), [this](const Reach& a, const Reach& b) {
    return std::tuple(uses_[a.use].line, a.use, a.site) < std::tuple(uses_[b.use].line, b.use, b.site);
  });
  return list;
}

}  // namespace cacheline::analysis
