// The table of memory samples.
#include "c2c/access_table.h"

namespace cacheline::c2c {

namespace {

/// The first cache lines of an item: by default all.
template <typename T>
void prefetch(const T& item, size_t bytes = sizeof(T)) {
  const auto* start = reinterpret_cast<const char*>(&item);
  for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(start + at, 1);
}

}  // namespace

void PhysicalPlace::append(const PhysicalPlace& later) {
  if (later.last == 0) return;
  changes += later.changes - (later.first == last ? 1 : 0);
  if (last == 0) first = later.first;
  last = later.last;
  nodes.add(later.nodes);
}

uint32_t AccessTable::lineOf(const Touch& touch) {
  const uint64_t inLine = touch.offset & (lineSize_ - 1), offset = touch.offset - inLine;
  uint32_t index = find(touch.space, offset);
  if (index != kNone) return index;
  index = static_cast<uint32_t>(lines_.size());
  Line& line = lines_.add();
  line.offset = offset;
  line.address = touch.address - inLine;
  line.space = touch.space;
  line.region = touch.region;
  lineIndex_.insert(lineHash(offset, touch.space), index,
                    [this](uint32_t at) { return lineHash(lines_[at].offset, lines_[at].space); });
  return index;
}

uint32_t AccessTable::rowOf(const Touch& touch, uint64_t hash, uint32_t guess) {
  const auto isIt = [&](uint32_t at) {
    const Row& row = rows_[at];
    return row.offset == touch.offset && row.space == touch.space && row.group == touch.group;
  };
  if (guess != kNone && isIt(guess)) return guess;
  uint32_t index = rowIndex_.find(hash, isIt);
  if (index != kNone) return index;
  index = static_cast<uint32_t>(rows_.size());
  const uint32_t lineIndex = lineOf(touch);
  Line& line = lines_[lineIndex];
  Row& row = rows_.add();
  row.offset = touch.offset;
  row.space = touch.space;
  row.group = touch.group;
  row.line = lineIndex;
  row.site = touch.site;
  row.next = line.firstRow;
  line.firstRow = index;
  rowIndex_.insert(hash, index, [this](uint32_t at) {
    return rowHash(rows_[at].offset, rows_[at].space, rows_[at].group);
  });
  return index;
}

uint32_t AccessTable::useOf(uint32_t lineIndex, uint32_t thread) {
  const uint64_t hash = useHash(lineIndex, thread);
  uint32_t index = useIndex_.find(
      hash, [&](uint32_t at) { return uses_[at].line == lineIndex && uses_[at].thread == thread; });
  if (index != kNone) return index;
  index = static_cast<uint32_t>(uses_.size());
  Line& line = lines_[lineIndex];
  Use& use = uses_.add();
  use.line = lineIndex;
  use.thread = thread;
  use.ordinal = line.uses++;
  use.next = line.firstUse;
  line.firstUse = index;
  useIndex_.insert(hash, index, [this](uint32_t at) { return useHash(uses_[at].line, uses_[at].thread); });
  return index;
}

Cell& AccessTable::addCell(uint32_t& place, uint16_t node, uint32_t next) {
  place = static_cast<uint32_t>(cells_.size());
  Cell& cell = cells_.add();
  cell.node = node;
  cell.next = next;
  return cell;
}

Cell& AccessTable::cellOf(Row& row, uint16_t node) {
  if (node < row.cells.size()) {
    uint32_t& index = row.cells[node];
    return index != kNone ? cells_[index] : addCell(index, node, kNone);
  }
  for (uint32_t index = row.farCells; index != kNone; index = cells_[index].next)
    if (cells_[index].node == node) return cells_[index];
  return addCell(row.farCells, node, row.farCells);
}

void AccessTable::flush() {
  for (size_t i = 0; i < pending_; ++i) {
    const Touch& touch = batch_[i];
    steps_[i].hash = rowHash(touch.offset, touch.space, touch.group);
    rowIndex_.prefetch(steps_[i].hash);
  }
  for (size_t i = 0; i < pending_; ++i) {
    steps_[i].row = rowIndex_.guess(steps_[i].hash);
    if (steps_[i].row != kNone) prefetch(rows_[steps_[i].row]);
  }
  for (size_t i = 0; i < pending_; ++i) {
    if (steps_[i].row == kNone) continue;
    const Row& row = rows_[steps_[i].row];
    prefetch(lines_[row.line], 128);
    const uint32_t cell = row.cells[batch_[i].node % row.cells.size()];
    if (cell != kNone) prefetch(cells_[cell]);
    latencies_.prefetch(row.latencies, batch_[i].cycles);
  }
  for (size_t i = 0; i < pending_; ++i) {
    if (steps_[i].row == kNone) continue;
    const Line& line = lines_[rows_[steps_[i].row].line];
    const uint32_t use = line.recentUses[batch_[i].thread % line.recentUses.size()];
    if (use != kNone) prefetch(uses_[use], 64);
  }
  for (size_t i = 0; i < pending_; ++i)
    apply(batch_[i], rows_[rowOf(batch_[i], steps_[i].hash, steps_[i].row)]);
  pending_ = 0;
}

void AccessTable::apply(const Touch& touch, Row& row) {
  const SourceClass& source = *touch.source;
  Line& line = lines_[row.line];
  uint32_t& recent = line.recentUses[touch.thread % line.recentUses.size()];
  if (recent == kNone || uses_[recent].thread != touch.thread) recent = useOf(row.line, touch.thread);
  Use& use = uses_[recent];
  if (line.lastUse == recent)
    use.runs.extend(touch.time);
  else
    use.runs.begin(touch.time);
  line.lastUse = recent;

  Cell& cell = cellOf(row, touch.node);
  for (size_t i = 0; i < source.rowCount; ++i) ++cell.counts[source.rowCounters[i]];
  if (source.load) {
    ++use.loads;
    ++line.loads;
    row.loaders.add(use.ordinal);
    latencies_.add(row.latencies, touch.cycles);
    ++cell.loads[static_cast<size_t>(source.cycles)];
    cell.cycles[static_cast<size_t>(source.cycles)] += touch.cycles;
  } else {
    ++use.stores;
    row.storers.add(use.ordinal);
  }
  ++row.samples;
  row.locked |= source.locked != 0;
  if (touch.cpu != kNone) row.cpus.add(touch.cpu);
  row.physical.add(touch);
  line.physical.add(touch);
  line.localHitm += source.at(Counter::localHitm);
  line.remoteHitm += source.at(Counter::remoteHitm);
  line.peer += source.at(Counter::localPeer) + source.at(Counter::remotePeer);
  line.locked += source.locked;
  line.blocked += source.blocked;
}

void AccessTable::append(const AccessTable& later, const Renumbering& numbers) {
  std::vector<uint32_t> lineOfLater(later.lines_.size());
  std::vector<uint32_t> ordinals;  // of this table, by later.uses_
  ordinals.resize(later.uses_.size());
  const auto place = [&](uint64_t offset, uint64_t address, uint32_t space, uint32_t region) {
    Touch touch;
    touch.offset = offset;
    touch.address = address;
    touch.space = numbers.spaces[space];
    touch.region = region == kNone ? kNone : numbers.regions[region];
    return touch;
  };
  for (size_t i = 0; i < later.lines_.size(); ++i) {
    const Line& from = later.lines_[i];
    lineOfLater[i] = lineOf(place(from.offset, from.address, from.space, from.region));
    Line& line = lines_[lineOfLater[i]];
    line.localHitm += from.localHitm;
    line.remoteHitm += from.remoteHitm;
    line.peer += from.peer;
    line.loads += from.loads;
    line.locked += from.locked;
    line.blocked += from.blocked;
    line.physical.append(from.physical);
  }
  for (size_t i = 0; i < later.uses_.size(); ++i) {
    const Use& from = later.uses_[i];
    Use& use = uses_[useOf(lineOfLater[from.line], numbers.threads[from.thread])];
    use.runs.append(from.runs);
    use.loads += from.loads;
    use.stores += from.stores;
    ordinals[i] = use.ordinal;
  }
  std::vector<uint32_t> ordinalOf;  // by the ordinals of one line of the later table
  const auto addOrdinals = [&](const BitSet& from, BitSet& to) {
    for (const uint32_t ordinal : from.list()) to.add(ordinalOf[ordinal]);
  };
  for (uint32_t i = 0; i < later.rows_.size(); ++i) {
    const Row& from = later.rows_[i];
    const Line& line = later.lines_[from.line];
    Touch touch = place(from.offset, line.address + (from.offset - line.offset), from.space, line.region);
    touch.group = numbers.groups[from.group];
    touch.site = numbers.sites[from.site];
    Row& row = rows_[rowOf(touch, rowHash(touch.offset, touch.space, touch.group), kNone)];
    ordinalOf.resize(line.uses);
    for (uint32_t use = line.firstUse; use != kNone; use = later.uses_[use].next)
      ordinalOf[later.uses_[use].ordinal] = ordinals[use];
    addOrdinals(from.loaders, row.loaders);
    addOrdinals(from.storers, row.storers);
    row.cpus.add(from.cpus);
    row.physical.append(from.physical);
    latencies_.append(row.latencies, later.latencies_, from.latencies);
    row.samples += from.samples;
    row.locked |= from.locked;
    later.eachCell(from, [&](const Cell& add) {
      Cell& cell = cellOf(row, add.node);
      for (size_t n = 0; n < kRowCounters; ++n) cell.counts[n] += add.counts[n];
      for (size_t kind = 0; kind < kCycleKinds; ++kind) {
        cell.loads[kind] += add.loads[kind];
        cell.cycles[kind] += add.cycles[kind];
      }
    });
  }
}

uint32_t AccessTable::find(uint32_t space, uint64_t lineOffset) const {
  return lineIndex_.find(lineHash(lineOffset, space), [&](uint32_t at) {
    return lines_[at].offset == lineOffset && lines_[at].space == space;
  });
}

}  // namespace cacheline::c2c
