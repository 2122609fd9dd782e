// One shard of the table of memory samples.
#include "sharing/access_shard.h"

#include <algorithm>
#include <numeric>

namespace cacheline::sharing {

namespace {

/// The first cache lines of an item: by default all.
template <typename T>
void prefetch(const T& item, size_t bytes = sizeof(T)) {
  const auto* start = reinterpret_cast<const char*>(&item);
  for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(start + at, 1);
}

}  // namespace

uint32_t AccessShard::lineOf(const MemoryAccess& access) {
  const uint64_t offset = startOf(access);
  const Placement& placement = placements_[access.placement];
  uint32_t index = find(placement.space, offset);
  if (index != kNone) return index;
  index = static_cast<uint32_t>(lines_.size());
  Line& line = lines_.add();
  line.offset = offset;
  line.address = offset - placement.delta;
  line.space = placement.space;
  line.region = placement.region;
  lineIndex_.insert(lineHash(offset, placement.space), index,
                    [this](uint32_t at) { return lineHash(lines_[at].offset, lines_[at].space); });
  return index;
}

Row& AccessShard::findRow(const MemoryAccess& access, uint64_t hash) {
  uint32_t index = rowIndex_.find(hash, [&](uint32_t at) { return isOf(rows_[at], access); });
  if (index != kNone) return rows_[index];
  index = static_cast<uint32_t>(rows_.size());
  const uint32_t lineIndex = lineOf(access);
  Line& line = lines_[lineIndex];
  Row& row = rows_.add();
  row.offset = access.offset;
  row.space = spaceOf(access);
  row.group = access.group;
  row.line = lineIndex;
  row.location = access.location;
  row.aggregateOnly = access.aggregateOnly != 0;
  if (row.aggregateOnly) row.aggregateSums = {};
  line.aggregateOnly |= row.aggregateOnly;
  row.next = line.firstRow;
  line.firstRow = idOf(index);
  rowIndex_.insert(hash, index, [this](uint32_t at) {
    return rowHash(rows_[at].offset, rows_[at].space, rows_[at].group);
  });
  return row;
}

uint32_t AccessShard::actorOf(uint32_t lineIndex, uint32_t actor) {
  const uint64_t hash = actorHash(lineIndex, actor);
  uint32_t index = actorIndex_.find(
      hash, [&](uint32_t at) { return actors_[at].line == lineIndex && actors_[at].actor == actor; });
  if (index != kNone) return index;
  index = static_cast<uint32_t>(actors_.size());
  Line& line = lines_[lineIndex];
  ActorStatistics& statistics = actors_.add();
  statistics.line = lineIndex;
  statistics.actor = actor;
  statistics.ordinal = line.actors++;
  statistics.next = line.firstActor;
  line.firstActor = idOf(index);
  actorIndex_.insert(hash, index,
                     [this](uint32_t at) { return actorHash(actors_[at].line, actors_[at].actor); });
  return index;
}

uint32_t AccessShard::addNodeCounts() {
  nodeCounts_.add();
  return static_cast<uint32_t>(nodeCounts_.size() - 1);
}

NodeCounts& AccessShard::findNodeCounts(RowSums& sums, uint16_t node) {
  if (node < sums.nodes.size()) return nodeCounts_[sums.nodes[node] = addNodeCounts()];
  for (uint32_t far = sums.farNodes; far != kNone; far = farNodes_[far].next)
    if (farNodes_[far].node == node) return nodeCounts_[farNodes_[far].counts];
  const uint32_t counts = addNodeCounts();
  farNodes_.add(counts, sums.farNodes, node);
  sums.farNodes = static_cast<uint32_t>(farNodes_.size() - 1);
  return nodeCounts_[counts];
}

/// What add() will touch.
void AccessShard::prefetchSums(const RowSums& sums, const MemoryAccess& access) const {
  if (access.node < sums.nodes.size() && sums.nodes[access.node] != kNone)
    prefetch(nodeCounts_[sums.nodes[access.node]]);
  if (access.source->cycles != CycleKind::none)
    latencies_.prefetch(sums.latencies, static_cast<uint32_t>(access.cycles));
}

void AccessShard::add(std::span<const MemoryAccess* const> accesses) {
  while (!accesses.empty()) {
    const size_t count = std::min(kBatch, accesses.size());
    if (rows_.size() < kCachedRows)
      for (const MemoryAccess* access : accesses.first(count)) addOne(*access);
    else
      addBatch(accesses.first(count));
    accesses = accesses.subspan(count);
  }
}

void AccessShard::addOne(const MemoryAccess& access) {
  const uint64_t hash = rowHash(access);
  Row* const guess = guessRow(hash);
  Row& row = guess != nullptr && isOf(*guess, access) ? *guess : findRow(access, hash);
  apply(access, row, lines_[row.line]);
}

void AccessShard::addBatch(std::span<const MemoryAccess* const> accesses) {
  struct Guess {
    uint64_t hash;
    Row* row;       ///< null: new
    RowSums* sums;  ///< of the row; null where it has none
    uint32_t line;  ///< of the row, else a guess that may be kNone
    Line* lineAt;   ///< the same
  };
  std::array<Guess, kBatch> guesses;
  for (size_t i = 0; i < accesses.size(); ++i) {
    const MemoryAccess& access = *accesses[i];
    guesses[i].hash = rowHash(access);
    rowIndex_.prefetch(guesses[i].hash);
  }
  for (size_t i = 0; i < accesses.size(); ++i) {
    guesses[i].row = guessRow(guesses[i].hash);
    if (guesses[i].row != nullptr)
      prefetch(*guesses[i].row);
    else
      lineIndex_.prefetch(lineHash(startOf(*accesses[i]), spaceOf(*accesses[i])));
  }
  for (size_t i = 0; i < accesses.size(); ++i) {
    Guess& guess = guesses[i];
    guess.sums = nullptr;
    if (guess.row != nullptr) {
      guess.line = guess.row->line;
      if (guess.row->sums != kNone) prefetch(*(guess.sums = &sums_[guess.row->sums]));
    } else {
      guess.line = lineIndex_.guess(lineHash(startOf(*accesses[i]), spaceOf(*accesses[i])));
    }
    if (guess.line != kNone) prefetch(*(guess.lineAt = &lines_[guess.line]), 128);
  }
  for (size_t i = 0; i < accesses.size(); ++i) {
    const MemoryAccess& access = *accesses[i];
    if (guesses[i].sums != nullptr) prefetchSums(*guesses[i].sums, access);
    if (guesses[i].line == kNone) continue;
    const Line& line = *guesses[i].lineAt;
    const uint32_t recent = line.recentActors[access.actor % line.recentActors.size()];
    if (recent != kNone)
      prefetch(actors_[recent], 64);
    else
      actorIndex_.prefetch(actorHash(guesses[i].line, access.actor));
  }
  for (size_t i = 0; i < accesses.size(); ++i) {
    const Guess& guess = guesses[i];
    if (guess.row != nullptr && isOf(*guess.row, *accesses[i])) [[likely]] {
      apply(*accesses[i], *guess.row, *guess.lineAt);
    } else {
      Row& row = findRow(*accesses[i], guess.hash);
      apply(*accesses[i], row, lines_[row.line]);
    }
  }
}

void AccessShard::apply(const MemoryAccess& access, Row& row, Line& line) {
  uint32_t& recent = line.recentActors[access.actor % line.recentActors.size()];
  if (recent == kNone || actors_[recent].actor != access.actor) recent = actorOf(row.line, access.actor);
  ActorStatistics& statistics = actors_[recent];
  if (line.lastActor == recent)
    statistics.runs.extend(access.time);
  else
    statistics.runs.begin(access.time);
  line.lastActor = recent;

  const SourceClass& source = *access.source;
  if (source.load) {
    ++statistics.loads;
    row.loaders.add(statistics.ordinal);
  } else {
    ++statistics.stores;
    row.storers.add(statistics.ordinal);
  }
  if (access.cpu != MemoryAccess::kNoCpu) row.cpus.add(access.cpu);
  if (splits_) [[unlikely]]
    splits_->add(row, access);
  if (row.aggregateOnly) return applyAggregateOnly(access, row, line);
  if (line.actors > 1 || logging_.fromStart) {
    if (!line.log) [[unlikely]]
      line.log = std::make_unique<SampleLog>(logging_.most, logging_.cores);
    line.log->add(row, access, statistics.ordinal);
  }
  if (access.physical != 0) {
    if (const uint16_t node = memoryNodes_.of(access.physical); node != MemoryNodes::kUnknown) {
      line.physical.add(access.physical, node);
      row.physical.add(access.physical, node);
    }
  }
  const auto cycles = static_cast<uint32_t>(access.cycles);
  if (row.sums == kNone) {
    if (row.keptCount < Row::kKept && cycles == access.cycles) {
      row.kept[row.keptCount++] = {access.source, cycles, access.node};
      return;
    }
    settle(row);
  }
  add(source, access.cycles, access.node, row);
}

void AccessShard::applyAggregateOnly(const MemoryAccess& access, Row& row, Line& line) {
  const SourceClass& source = *access.source;
  row.aggregateSums.add(source, access.cycles);
  count(source, line.aggregateCounts);
  line.loads += source.load ? 1 : 0;
  line.locked += source.locked;
  line.blocked += source.blocked;
}

void AccessShard::settle(Row& row) {
  if (row.aggregateOnly) return;
  if (row.sums == kNone) {
    row.sums = static_cast<uint32_t>(sums_.size());
    sums_.add();
  }
  for (uint32_t i = 0; i < row.keptCount; ++i)
    add(*row.kept[i].source, row.kept[i].cycles, row.kept[i].node, row);
  row.keptCount = 0;
}

void AccessShard::add(const SourceClass& source, uint64_t cycles, uint16_t node, Row& row) {
  RowSums& sums = sums_[row.sums];
  ++sums.samples;
  sums.locked += source.locked;
  sums.blocked += source.blocked;
  NodeCounts& counts = nodeCountsOf(sums, node);
  count(source, counts.counts);
  if (source.cycles == CycleKind::none) return;
  ++sums.loads[static_cast<size_t>(source.cycles)];
  sums.cycles[static_cast<size_t>(source.cycles)] += cycles;
  latencies_.add(sums.latencies, cycles);
}

void AccessShard::settle(const Line& line) {
  for (uint32_t row = line.firstRow; row != kNone; row = rows_[row / kShards].next)
    settle(rows_[row / kShards]);
}

void AccessShard::finish() {
  for (uint32_t i = 0; i < lines_.size(); ++i) lines_[i].tally.add(lines_[i].aggregateCounts);
  for (uint32_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    Line& line = lines_[row.line];
    if (row.sums != kNone) {
      const RowSums& sums = sums_[row.sums];
      eachNode(sums, [&](uint16_t, const NodeCounts& counts) { line.tally.add(counts.counts); });
      line.loads = std::accumulate(sums.loads.begin(), sums.loads.end(), line.loads);
      line.locked += sums.locked;
      line.blocked += sums.blocked;
    }
    for (uint32_t n = 0; n < row.keptCount; ++n) {
      const SourceClass& source = *row.kept[n].source;
      line.tally.add(source);
      line.loads += source.load ? 1 : 0;
      line.locked += source.locked;
      line.blocked += source.blocked;
    }
  }
}

RowTally AccessShard::tally(const Row& row) const {
  RowTally tally;
  if (row.sums != kNone)
    eachNode(sums_[row.sums], [&](uint16_t, const NodeCounts& counts) { tally.add(counts.counts); });
  for (uint32_t i = 0; i < row.keptCount; ++i) tally.add(*row.kept[i].source);
  return tally;
}

AggregateSums AccessShard::aggregateSums(const Row& row) const {
  if (row.aggregateOnly) return row.aggregateSums;
  RowTally tally;
  if (row.sums != kNone)
    eachNode(sums_[row.sums], [&](uint16_t, const NodeCounts& counts) { tally.add(counts.counts); });
  AggregateSums aggregateOnly = tally.aggregateOnly();
  if (row.sums != kNone) {
    const RowSums& sums = sums_[row.sums];
    aggregateOnly[SumCounter::samples] = sums.samples;
    aggregateOnly[SumCounter::timed] = std::accumulate(sums.loads.begin(), sums.loads.end(), 0u);
    aggregateOnly.cycles = std::accumulate(sums.cycles.begin(), sums.cycles.end(), uint64_t{0});
  }
  for (uint32_t i = 0; i < row.keptCount; ++i) aggregateOnly.add(*row.kept[i].source, row.kept[i].cycles);
  return aggregateOnly;
}

const Row* AccessShard::findRow(uint32_t space, uint64_t offset, uint32_t group) const {
  const uint32_t at = rowIndex_.find(rowHash(offset, space, group), [&](uint32_t index) {
    const Row& row = rows_[index];
    return row.offset == offset && row.space == space && row.group == group;
  });
  return at == kNone ? nullptr : &rows_[at];
}

uint32_t AccessShard::find(uint32_t space, uint64_t offset) const {
  return lineIndex_.find(lineHash(offset, space), [&](uint32_t at) {
    return lines_[at].offset == offset && lines_[at].space == space;
  });
}

}  // namespace cacheline::sharing
