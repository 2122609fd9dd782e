// Rows, verdicts and contended samples of lines of a clock recording.
#include "sharing/clock_lines.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace cacheline::sharing {

uint32_t actorOf(const LineRow& row) {
  uint32_t actor = kNone;
  for (const BitSet* users : {&row.row->loaders, &row.row->storers})
    users->each([&](uint32_t ordinal) { actor = ordinal; });
  return actor;
}

ClockLines::ClockLines(ClockCollector& collector, const Options& options)
    : collector_(collector),
      policy_{.waits = [](const SourceClass&) { return true; },
              .timed = true,
              .where = collector.whereabouts.get(),
              .byThread = options.coalesce.tid || options.coalesce.pid,
              .pairs = options.splits.has_value(),
              .keep = options.history},
      pairs_(options.doubleLine) {
  const auto watchedAt = [&](const Line& line) {
    return collector.watch ? collector.watch->at({line.space, line.offset}) : nullptr;
  };
  collector.table.eachLine([&](const Line& line) { add(line, watchedAt(line), options.showAll); });
  findAdjacent();
  if (collector.watch)
    for (const analysis::WatchedLine& watched : collector.watch->lines()) {
      const auto& [space, offset] = watched.position;
      if (collector.table.find(space, offset) != kNone) continue;
      Line& line = unsampled_.emplace_back();
      line.space = space;
      line.offset = offset;
      line.address = watched.address;
      line.region = watched.region;
      add(line, &watched, true);
    }
  for (ClockLine& line : lines_) {
    if (line.watched == nullptr || collector.isGo(*line.line)) continue;  // it knows no goroutines
    if (isContended(line.judgement.verdict)) continue;
    judgeByWatch(*line.watched, line.judgement);
    if (!isContended(line.judgement.verdict)) continue;
    for (const LineRow& row : line.begunRows()) line.contendedSum += collector.table.samples(*row.row);
  }
}

void ClockLines::add(const Line& from, const analysis::WatchedLine* watched, bool all) {
  ClockLine line;
  line.line = &from;
  line.rows = rowsOf(from);
  line.begun = static_cast<size_t>(
      std::ranges::count_if(line.rows, [](const LineRow& row) { return row.reach == 0; }));
  if (watched == nullptr) {
    if (line.begun == 0) return;  // accesses only reach into it
    if (!all && from.actors < 2) {
      ++singleThreaded_;
      return;
    }
  }
  line.watched = watched;
  line.address = watched == nullptr ? from.address : std::min(from.address, watched->address);
  for (const LineRow& row : line.rows)
    line.address = std::min(line.address, collector_.addressOf(*row.row) - (row.row->offset - from.offset));
  if (line.begun > 0) {
    if (from.actors > 1) findLater(from, line.rows);
    line.judgement = judgeLine(collector_.table, from, line.rows, policy_);
    countContended(line);
    countTurns(line);
  }
  lines_.push_back(std::move(line));
}

std::vector<LineRow> ClockLines::rowsOf(const Line& line) {
  std::vector<LineRow> rows;
  for (uint32_t index = line.firstRow; index != kNone; index = collector_.table.row(index).next) {
    const Row& row = collector_.table.row(index);
    const ClockGroup& group = collector_.groupOf(row);
    const analysis::CodeLocation& location = collector_.locations[group.location];
    rows.push_back({&row, &factsOf(group.location), mix(location.plan.codeAddress, location.binary),
                    functionOf(group.location), collector_.visitors.thread(group.visitor), group.reach});
  }
  const auto order = [&](const LineRow& row) {
    const ClockGroup& group = collector_.groupOf(*row.row);
    return std::tuple(row.reach != 0, row.row->offset, group.location, group.visitor, row.reach,
                      group.placement);
  };
  std::ranges::sort(rows, [&](const LineRow& a, const LineRow& b) { return order(a) < order(b); });
  return rows;
}

void ClockLines::countTurns(ClockLine& line) const {
  const LineJudgement& judgement = line.judgement;
  if (judgement.turns && judgement.turns->written)
    for (const LineRow& row : line.begunRows())
      if (judgement.tookTurns[actorOf(row)]) line.inTurns += collector_.table.samples(*row.row);
  for (const LineJudgement::Unwaited& each : judgement.unwaited)
    if (each.inTurns) line.inTurns += each.weight;
}

/// Where only some samples were logged, what waits of these speaks for all.
void ClockLines::countContended(ClockLine& line) const {
  const LineJudgement& judgement = line.judgement;
  if (!isContended(judgement.verdict)) return;
  const std::vector<double>& waiting = judgement.waiting->contended;
  std::vector<uint64_t> samples(waiting.size());  // of competing actors
  for (size_t row = 0; row < line.begun; ++row)
    if (judgement.competes[actorOf(line.rows[row])])
      samples[judgement.rows[row].any()] += collector_.table.samples(*line.rows[row].row);
  const double logged = std::accumulate(judgement.logged.begin(), judgement.logged.end(), 0.0);
  const double ofLine = std::accumulate(waiting.begin(), waiting.end(), 0.0) / logged;
  for (size_t use = 0; use < waiting.size(); ++use) {
    double contended = waiting[use];
    if (judgement.logged[use] != samples[use]) {
      line.isThinned = true;
      const double share =
          judgement.logged[use] == 0 ? ofLine : contended / static_cast<double>(judgement.logged[use]);
      contended = share * static_cast<double>(samples[use]);
    }
    line.contended.push_back(static_cast<uint64_t>(std::llround(contended)));
    line.contendedSum += line.contended.back();
  }
}

void ClockLines::findAdjacent() {
  if (pairs_) return;
  HashMap<analysis::Position, bool> contended;
  for (const ClockLine& line : lines_)
    if (isContended(line.judgement.verdict)) contended.try_emplace({line.line->space, line.line->offset});
  for (ClockLine& line : lines_)
    line.judgement.adjacent =
        isContended(line.judgement.verdict) &&
        contended.contains({line.line->space, line.line->offset ^ collector_.table.lineSize()});
}

void ClockLines::findLater(const Line& line, std::span<LineRow> rows) {
  for (LineRow& row : rows) {
    const uint32_t location = collector_.groupOf(*row.row).location;
    if (isLaterKnown_.size() <= location) isLaterKnown_.resize(location + size_t{1});
    if (!isLaterKnown_[location]) {
      facts_[location]->later = collector_.locations.laterWrites(location);
      facts_[location]->lock = collector_.locations.lockStep(location);
    }
    isLaterKnown_[location] = true;
    const decode::LaterWrites& later = facts_[location]->later;
    if (later.ways == decode::LaterWrites::Ways::some || later.repeats)
      row.storesNext = collector_.storesNext(line, *row.row);
  }
}

const CodeFacts& ClockLines::factsOf(uint32_t location) {
  if (facts_.size() <= location) facts_.resize(location + size_t{1});
  std::optional<CodeFacts>& known = facts_[location];
  if (known) return *known;
  const analysis::CodeLocation& code = collector_.locations[location];
  const decode::MemoryOperand& operand = code.plan.operand;
  known.emplace();
  known->width = operand.width;
  known->reads = code.reads();
  known->writes = code.writes();
  known->locked = operand.locked;
  known->swaps = operand.swaps;
  known->adds = operand.adds;
  known->companions = code.companions;
  return *known;
}

/// Code without a symbol is a function of its own.
uint64_t ClockLines::functionOf(uint32_t index) {
  const auto [known, isNew] = functions_.try_emplace(index, 0);
  if (isNew) {
    const analysis::CodeLocation& location = collector_.locations[index];
    const symbols::ElfImage* image = collector_.binaries.codeImage(location.binary);
    const symbols::Symbol* symbol = image == nullptr ? nullptr : image->functionAt(location.plan.codeAddress);
    known.value() = mix(symbol == nullptr ? location.plan.codeAddress : symbol->address, location.binary);
  }
  return known->second;
}

}  // namespace cacheline::sharing
