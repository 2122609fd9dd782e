// The table of memory samples.
#include "c2c/access_table.h"

namespace cacheline::c2c {

uint32_t AccessTable::lineOf(const Touch& touch) {
  const uint64_t inLine = touch.offset & (lineSize_ - 1);
  const LineKey key{touch.offset - inLine, touch.space};
  const auto [it, added] = lineIndex_.try_emplace(key, static_cast<uint32_t>(lines_.size()));
  if (added) {
    Line& line = lines_.add();
    line.offset = key.offset;
    line.address = touch.address - inLine;
    line.space = touch.space;
    line.region = touch.region;
  }
  return it->second;
}

uint32_t AccessTable::rowOf(const Touch& touch) {
  const RowKey key{touch.offset, touch.space, touch.group};
  const auto [it, added] = rowIndex_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
  if (!added) return it->second;
  const uint32_t index = it->second;
  const uint32_t lineIndex = lineOf(touch);
  Line& line = lines_[lineIndex];
  Row& row = rows_.add();
  row.offset = touch.offset;
  row.group = touch.group;
  row.line = lineIndex;
  row.site = touch.site;
  row.next = line.firstRow;
  line.firstRow = index;
  return index;
}

uint32_t AccessTable::useOf(uint32_t lineIndex, uint32_t thread) {
  const auto [it, added] =
      useIndex_.try_emplace(UseKey{lineIndex, thread}, static_cast<uint32_t>(uses_.size()));
  if (added) {
    Line& line = lines_[lineIndex];
    Use& use = uses_.add();
    use.thread = thread;
    use.ordinal = line.uses++;
    use.next = line.firstUse;
    line.firstUse = it->second;
  }
  return it->second;
}

Cell& AccessTable::cellOf(Row& row, uint32_t sourceClass, uint16_t node) {
  uint32_t before = kNone;
  for (uint32_t index = row.firstCell; index != kNone; before = index, index = cells_[index].next) {
    Cell& cell = cells_[index];
    if (cell.sourceClass != sourceClass || cell.node != node) continue;
    if (before != kNone) {
      cells_[before].next = cell.next;
      cell.next = row.firstCell;
      row.firstCell = index;
    }
    return cell;
  }
  Cell& cell = cells_.add();
  cell.sourceClass = sourceClass;
  cell.node = node;
  cell.next = row.firstCell;
  row.firstCell = static_cast<uint32_t>(cells_.size() - 1);
  return cell;
}

void AccessTable::extendRuns(Line& line, uint32_t index, uint64_t time) {
  Use& use = uses_[index];
  const bool continues = line.lastUse == index;
  line.lastUse = index;
  if (use.block != kNone) {
    if (continues)
      blocks_[use.block].extend(time);
    else
      blocks_[use.block].begin(time);
  } else if (continues) {
    use.only.end = time;
    ++use.only.count;
  } else if (use.only.count == 0) {
    use.only = {time, time, analysis::kNoPause, 1};
  } else {
    use.block = static_cast<uint32_t>(blocks_.size());
    blocks_.add(use.only).begin(time);
  }
}

void AccessTable::add(const Touch& touch) {
  Row& row = rows_[rowOf(touch)];
  Line& line = lines_[row.line];
  if (row.lastThread != touch.thread) {
    row.lastUse = useOf(row.line, touch.thread);
    row.lastThread = touch.thread;
  }
  Use& use = uses_[row.lastUse];
  extendRuns(line, row.lastUse, touch.time);

  Cell& cell = cellOf(row, touch.sourceClass, touch.node);
  ++cell.samples;
  cell.cycles += touch.cycles;
  if (touch.load) {
    ++use.loads;
    row.loaders.add(use.ordinal);
    row.latencies.add(touch.cycles);
  } else {
    ++use.stores;
    row.storers.add(use.ordinal);
  }
  if (touch.cpu != kNone) row.cpus.add(touch.cpu);
  row.physical.add(touch);
  line.physical.add(touch);
  line.localHitm += touch.localHitm;
  line.remoteHitm += touch.remoteHitm;
  line.peer += touch.peer;
}

std::span<const analysis::Run> AccessTable::runs(const Use& use) const {
  if (use.block != kNone) return blocks_[use.block].runs();
  return {&use.only, use.only.count > 0 ? size_t{1} : size_t{0}};
}

uint32_t AccessTable::find(uint32_t space, uint64_t lineOffset) const {
  const auto it = lineIndex_.find(LineKey{lineOffset, space});
  return it == lineIndex_.end() ? kNone : it->second;
}

}  // namespace cacheline::c2c
