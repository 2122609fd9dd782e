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

uint32_t SharingTable::useOf(const MemoryAccess& access, bool& created) {
  const uint32_t line = lineOf(access.position, access.address, created);
  const UseKey useKey{line, access.actor};
  const auto [use, newUse] = useIndex_.try_emplace(useKey, static_cast<uint32_t>(uses_.size()));
  if (newUse) {
    LineEntry& entry = lines_[line];
    ThreadLineStatistics fresh;
    fresh.line = line;
    fresh.actor = access.actor;
    fresh.next = entry.firstUse;
    entry.firstUse = use->second;
    ++entry.uses;
    uses_.push_back(fresh);
  }
  return use->second;
}

void SharingTable::record(uint32_t index, uint64_t time) {
  ThreadLineStatistics& use = uses_[index];
  LineEntry& line = lines_[use.line];
  const bool continues = line.lastUse == index;
  line.lastUse = index;
  if (continues)
    use.runs.extend(time);
  else
    use.runs.begin(time);
}

LineEntry& SharingTable::add(const MemoryAccess& access, bool& created) {
  const CellKey key{access.position.offset, access.position.space, access.visitor, access.site,
                    access.cpu / 64};
  created = false;
  auto it = cells_.find(key);
  if (it == cells_.end()) {
    RowStatistics cell;
    cell.use = useOf(access, created);
    cell.number = static_cast<uint32_t>(cells_.size());
    it = cells_.emplace(key, cell).first;
  }
  RowStatistics& cell = it.value();
  ++cell.count;
  cell.cpus |= uint64_t{1} << (access.cpu % 64);
  record(cell.use, access.time);
  sequence_.push_back(cell.number);
  LineEntry& line = lines_[uses_[cell.use].line];
  line.address = std::min(line.address, access.address - access.position.offset % lineSize_);
  ++line.records;
  return line;
}

LineEntry& SharingTable::reach(const MemoryAccess& access, uint32_t bytes, bool& created) {
  const uint32_t use = useOf(access, created);
  record(use, access.time);
  const auto [it, isNew] = reachIndex_.try_emplace(ReachKey{use, access.visitor, access.site},
                                                   static_cast<uint32_t>(reaches_.size()));
  if (isNew) reaches_.push_back({use, access.visitor, access.site, 0});
  reaches_[it->second].bytes = std::max(reaches_[it->second].bytes, bytes);
  sequence_.push_back(kReach + it->second);
  return lines_[uses_[use].line];
}

uint32_t SharingTable::find(Position position) const {
  const auto it = lineIndex_.find(LineKey{position.offset - position.offset % lineSize_, position.space});
  return it == lineIndex_.end() ? kNone : it->second;
}

namespace {

/// Where each line's part begins of what is counted in `from[line + 1]`.
void addUp(std::vector<size_t>& from) {
  for (size_t line = 1; line < from.size(); ++line) from[line] += from[line - 1];
}

}  // namespace

SharingTable::Selection SharingTable::select(const std::vector<bool>& wanted) const {
  Selection result;
  const size_t lines = lines_.size();
  for (std::vector<size_t>* from : {&result.cellsFrom, &result.reachesFrom, &result.stepsFrom})
    from->resize(lines + 1);
  // Sorted by counting into the lines first: what is left to compare is short and close together.
  for (const auto& [key, cell] : cells_) {
    const uint32_t line = uses_[cell.use].line;
    if (wanted[line]) ++result.cellsFrom[line + 1];
  }
  addUp(result.cellsFrom);
  result.cells.resize(result.cellsFrom.back());
  std::vector<size_t> next(result.cellsFrom.begin(), result.cellsFrom.end() - 1);
  for (auto it = cells_.begin(); it != cells_.end(); ++it) {
    const uint32_t line = uses_[it->second.use].line;
    if (wanted[line]) result.cells[next[line]++] = {&it->first, &it->second};
  }
  const auto order = [](const CellView& view) {
    return std::tuple(view.key->offset, view.key->site, view.key->visitor, view.key->cpuGroup);
  };
  for (size_t line = 0; line < lines; ++line)
    std::sort(result.cells.begin() + static_cast<ptrdiff_t>(result.cellsFrom[line]),
              result.cells.begin() + static_cast<ptrdiff_t>(result.cellsFrom[line + 1]),
              [&](const CellView& x, const CellView& y) { return order(x) < order(y); });

  std::vector<uint32_t> reachAt(reaches_.size(), kNone), cellAt(cells_.size(), kNone);
  for (const Reach& reach : reaches_)
    if (const uint32_t line = uses_[reach.use].line; wanted[line]) ++result.reachesFrom[line + 1];
  addUp(result.reachesFrom);
  result.reaches.resize(result.reachesFrom.back());
  next.assign(result.reachesFrom.begin(), result.reachesFrom.end() - 1);
  for (size_t i = 0; i < reaches_.size(); ++i) {
    const uint32_t line = uses_[reaches_[i].use].line;
    if (!wanted[line]) continue;
    reachAt[i] = static_cast<uint32_t>(next[line]);
    result.reaches[next[line]++] = reaches_[i];
  }
  for (size_t i = 0; i < result.cells.size(); ++i)
    cellAt[result.cells[i].cell->number] = static_cast<uint32_t>(i);

  const auto eachStep = [&](auto&& visit) {
    for (const uint32_t seen : sequence_) {
      const bool reach = (seen & kReach) != 0;
      const uint32_t at = reach ? reachAt[seen - kReach] : cellAt[seen];
      if (at == kNone) continue;
      const uint32_t use = reach ? result.reaches[at].use : result.cells[at].cell->use;
      visit(uses_[use].line, reach ? kReach + at : at);
    }
  };
  eachStep([&](uint32_t line, uint32_t) { ++result.stepsFrom[line + 1]; });
  addUp(result.stepsFrom);
  result.steps.resize(result.stepsFrom.back());
  next.assign(result.stepsFrom.begin(), result.stepsFrom.end() - 1);
  eachStep([&](uint32_t line, uint32_t step) { result.steps[next[line]++] = step; });
  return result;
}

}  // namespace cacheline::analysis
