// Lines of a clock recording and their accesses as values.
#include "sharing/clock_report.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "analysis/code_names.h"
#include "analysis/findings.h"
#include "analysis/typed_rows.h"
#include "analysis/watch_join.h"
#include "sharing/clock_lines.h"
#include "sharing/clock_statistics.h"
#include "sharing/line_head.h"

namespace cacheline::sharing {

namespace {

using analysis::Access;
using analysis::ObjectEvidence;
using analysis::WatchedLine;
using analysis::WatchedRow;

class ClockReport {
 public:
  ClockReport(ClockCollector& collector, const analysis::CpuNodes& nodes, const Options& options,
              bool cpusKnown, analysis::Report& report)
      : collector_(collector),
        nodes_(nodes),
        options_(options),
        cpusKnown_(cpusKnown),
        report_(report),
        code_(collector.binaries),
        lines_(collector, options) {}

  void run() {
    if (collector_.whereabouts) report_.turns.emplace().by = collector_.whereabouts->by();
    if (options_.history) report_.whereabouts = collector_.whereabouts;
    for (const ClockLine& line : lines_.lines()) {
      report_.contended += line.contendedSum;
      report_.linesOfMany += line.judgement.leftOut;
      addTurns(line);
    }
    report_.linesLeftOut = lines_.singleThreaded();
    for (uint32_t thread = 0; thread < collector_.mayWait.size(); ++thread)
      for (const auto& [key, samples] : collector_.mayWait[thread])
        report_.threads[thread].mayWait[{key.first, lines_.functionOf(key.second)}] += samples;
    addWatchedEvidence();
    collector_.objectEvidence.agree();
    analysis::TypedRows rows(collector_.typed, collector_.objectEvidence, &collector_.blocks, report_);
    std::vector<const ClockLine*> order;
    for (const ClockLine& line : lines_.lines()) {
      if (line.judgement.verdict == analysis::Verdict::privateLine && !options_.showAll &&
          line.watched == nullptr)
        ++report_.linesLeftOut;
      else
        order.push_back(&line);
    }
    std::sort(order.begin(), order.end(),
              [&](const ClockLine* a, const ClockLine* b) { return before(*a, *b); });
    report_.lines.reserve(order.size());
    for (const ClockLine* line : order) {
      report_.lines.push_back(build(*line, rows));
      addToShared(*line, report_.lines.back());
    }
    rows.finish(report_);
    analysis::addFindings(report_);
    if (options_.heapSites) report_.heapSites = collector_.blocks.sites(collector_.table.lineSize());
    addStatistics(collector_, shared_, report_);
    if (!report_.splits) return;
    report_.splits->unplaced = collector_.unplaced->take(
        [this](uint32_t location) { return code_.of(collector_.locations[location]); });
    addSplitNames(collector_, nodes_, report_);
  }

 private:
  void addTurns(const ClockLine& line) {
    if (!report_.turns) return;
    analysis::TakenTurns& sum = *report_.turns;
    sum.samples += line.inTurns;
    const std::optional<analysis::LineTurns>& turns = line.judgement.turns;
    if (!turns || !turns->written) return;
    ++sum.lines;
    sum.oneCore += turns->oneCore;
    if (line.inTurns <= mostInTurns_) return;
    mostInTurns_ = line.inTurns;
    std::set<uint32_t> threads;
    for (const analysis::Visitor& visitor : line.judgement.visitors)
      if (line.judgement.tookTurns[visitor.actor]) threads.insert(visitor.thread);
    sum.threads = static_cast<uint32_t>(threads.size());
  }
  const analysis::CodeLocation& locationOf(const LineRow& row) const {
    return collector_.locations[collector_.groupOf(*row.row).location];
  }
  static analysis::StoresLater storesLaterOf(const analysis::CodeLocation& location, const CodeFacts& facts) {
    using Ways = decode::LaterWrites::Ways;
    if (location.plan.operand.kind != decode::AccessKind::read) return analysis::StoresLater::never;
    if (location.writes() || facts.later.ways == Ways::all) return analysis::StoresLater::always;
    return facts.later.ways == Ways::some ? analysis::StoresLater::sometimes : analysis::StoresLater::never;
  }
  uint64_t samplesOf(const LineRow& row) const { return collector_.table.samples(*row.row); }
  const analysis::Thread& threadOf(const LineRow& row) const { return collector_.threads[row.thread]; }

  struct WatchedKey {
    uint64_t offset = 0;  ///< in the space
    uint32_t space = 0, binary = kNone;
    uint64_t elfAddress = 0;
    auto operator<=>(const WatchedKey&) const = default;
  };
  static WatchedKey keyOf(const Line& line, const WatchedRow& row) {
    return {line.offset + row.offset, line.space, row.binary, row.elfAddress};
  }

  /// Rows that only watchpoints saw say what their code touches.
  void addWatchedEvidence() {
    std::vector<ObjectEvidence::Observation> observations;
    // By binary and instruction, behind those of samples.
    std::map<std::pair<uint32_t, uint64_t>, uint32_t> locations;
    for (const ClockLine& judged : lines_.lines()) {
      if (judged.watched == nullptr) continue;
      const Line& line = *judged.line;
      if (!judged.rows.empty() &&
          collector_.names.isNamed(line.region, line.address, collector_.table.lineSize()))
        continue;
      std::set<WatchedKey> sampled;
      for (const LineRow& row : judged.begunRows()) {
        const analysis::CodeLocation& location = locationOf(row);
        sampled.insert({row.row->offset, line.space, location.binary, location.plan.codeAddress});
      }
      for (const WatchedRow& row : judged.watched->rows) {
        const WatchedKey key = keyOf(line, row);
        if (!row.placed || row.binary == kNone || !collector_.typed.described(row.binary) ||
            sampled.contains(key))
          continue;
        const auto number = collector_.locations.size() + static_cast<uint32_t>(locations.size());
        ObjectEvidence::Observation& observed = observations.emplace_back();
        observed.position = {key.space, key.offset};
        observed.address = judged.address + row.offset;
        observed.location = locations.try_emplace({row.binary, row.elfAddress}, number).first->second;
        observed.binary = row.binary;
        observed.access = row.elfAddress;
        observed.width = row.width;
        watchedLocations_.emplace(key, observed.location);
      }
    }
    collector_.objectEvidence.add(observations);
  }

  bool before(const ClockLine& a, const ClockLine& b) const {
    if (a.contendedSum != b.contendedSum) return a.contendedSum > b.contendedSum;
    if (a.address != b.address) return a.address < b.address;
    if (a.line->space != b.line->space) return collector_.lineSpaces.isBefore(a.line->space, b.line->space);
    return a.line->offset < b.line->offset;
  }

  static void count(const analysis::CodeLocation& location, uint64_t samples, Access& access) {
    access.records += samples;
    if (location.plan.operand.kind == decode::AccessKind::read) {
      access.loads += samples;
    } else {
      access.stores += samples;
      if (location.plan.operand.kind == decode::AccessKind::readWrite) access.rmw += samples;
    }
    if (access.skid.size() <= location.plan.skid) access.skid.resize(location.plan.skid + size_t{1});
    access.skid[location.plan.skid] += static_cast<uint32_t>(samples);
  }

  /// Of the table's rows at one offset, with their numbers, those that the report shows as one.
  Access buildAccess(const ClockLine& judged, std::span<const size_t> numbers) {
    const LineRow& front = judged.rows[numbers.front()];
    const analysis::CodeLocation& first = locationOf(front);
    Access access;
    access.offset = static_cast<uint32_t>(front.row->offset - judged.line->offset);
    access.width = first.plan.operand.width;
    access.locked = first.plan.operand.locked;
    access.codeAddress = first.codeAddress;
    access.elfAddress = first.plan.codeAddress;
    access.code = code_.of(first);
    if (judged.judgement.waiting) addWaits(judged, usesOf(judged, numbers), access);
    std::vector<uint32_t> cpus;
    for (const size_t number : numbers) {
      const LineRow& row = judged.rows[number];
      const analysis::CodeLocation& location = locationOf(row);
      if (location.binary == first.binary && location.plan.codeAddress == first.plan.codeAddress)
        access.codeAddress = std::min(access.codeAddress, location.codeAddress);
      access.width = std::max(access.width, location.plan.operand.width);
      access.locked |= location.plan.operand.locked;
      access.storesLater = std::max(access.storesLater, storesLaterOf(location, *row.facts));
      count(location, samplesOf(row), access);
      if (isContended(judged.judgement.verdict) && !judged.judgement.waiting)
        access.contended += samplesOf(row);
      access.threads.push_back(threadOf(row).tid);
      access.processes.push_back(threadOf(row).pid);
      row.row->cpus.each([&](uint32_t cpu) { cpus.push_back(cpu); });
    }
    sortUnique(access.threads);
    sortUnique(access.processes);
    sortUnique(cpus);
    if (cpusKnown_) placeCpus(cpus, access);
    if (report_.splits) addSplits(judged, numbers, access);
    if (collector_.callers)
      access.callers = collector_.callers->of({judged.line->space, front.row->offset}, first, code_);
    return access;
  }

  /// Of an access whose counts are complete. Who competes for the line has its contended samples, in
  /// proportion to the samples that waited for somebody.
  void addSplits(const ClockLine& judged, std::span<const size_t> numbers, Access& access) const {
    const LineJudgement& judgement = judged.judgement;
    std::map<analysis::SplitPlace, std::pair<analysis::AccessSplit, uint64_t>>
        splits;  // and competing samples
    for (const size_t number : numbers) {
      const LineRow& row = judged.rows[number];
      const bool competes = !judgement.waiting || judgement.competes[actorOf(row)];
      collector_.table.eachSplit(*row.row, [&](const SplitCounts& counts) {
        auto& [split, competing] =
            splits[{row.thread, cpusKnown_ ? counts.cpu : analysis::kNoSplit, counts.bin}];
        split.samples += counts.samples;
        split.loads += counts.loads;
        split.stores += counts.stores;
        split.periods += counts.cycles;
        if (competes) competing += counts.samples;
      });
    }
    const std::optional<analysis::TimeBins>& bins = report_.splits->bins;
    for (const size_t number : numbers) {
      for (const LineJudgement::Unwaited& each : judgement.unwaitedOf(number)) {
        const auto split =
            splits.find({judged.rows[number].thread, options_.splits->cpus ? each.cpu : analysis::kNoSplit,
                         bins ? bins->of(each.time) : analysis::kNoSplit});
        if (split != splits.end())
          split->second.second -= std::min<uint64_t>(split->second.second, each.weight);
      }
    }
    std::vector<uint64_t> weights;
    for (const auto& [place, each] : splits) weights.push_back(each.second);
    const std::vector<uint64_t> contended = analysis::shareOut(access.contended, weights);
    size_t i = 0;
    for (auto& [place, each] : splits) {
      each.first.place = place;
      each.first.contended = contended[i++];
      access.splits.push_back(each.first);
    }
  }

  static std::vector<uint32_t> usesOf(const ClockLine& judged, std::span<const size_t> rows) {
    std::vector<uint32_t> uses;
    for (const size_t row : rows) uses.push_back(judged.judgement.rows[row].any());
    sortUnique(uses);
    return uses;
  }

  static void addWaits(const ClockLine& judged, const std::vector<uint32_t>& uses, Access& access) {
    const analysis::Waiting& waiting = *judged.judgement.waiting;
    access.word = waiting.wordOf[uses.front()];
    for (const uint32_t use : uses) {
      const uint64_t contended = judged.contended[use];
      access.contended += contended;
      access.waits.add(judged.isThinned ? waitsOf(judged.judgement, use, static_cast<double>(contended))
                                        : waiting.uses[use]);
      if (waiting.wordOf[use] != access.word) access.word.reset();
    }
    if (uses.size() == 1)
      access.falseShare = waiting.shares[uses.front()];
    else if (access.waits.known > 0)
      access.falseShare = access.waits.falsely / access.waits.known;
  }

  void placeCpus(const std::vector<uint32_t>& cpus, Access& access) const {
    access.cpus = static_cast<uint32_t>(cpus.size());
    for (const uint32_t cpu : cpus)
      if (const auto node = nodes_.of(cpu)) access.nodes.push_back(*node);
    sortUnique(access.nodes);
  }

  /// What lies at an offset of the line that is being built.
  analysis::NamedData dataAt(const ClockLine& judged, uint32_t offset) {
    const Line& line = *judged.line;
    return collector_.names.name(line.region, collector_.isStack(line), stackOwner_, judged.address + offset,
                                 line.offset + offset);
  }

  void nameData(const ClockLine& judged, std::span<const size_t> numbers, analysis::TypedRows& rows,
                Access& access) {
    std::vector<uint32_t> locations;
    for (const size_t number : numbers)
      locations.push_back(collector_.groupOf(*judged.rows[number].row).location);
    const uint32_t codeBinary = collector_.locations[locations.front()].binary;
    sortUnique(locations);
    analysis::RowData row;
    row.data = dataAt(judged, access.offset);
    // Behind a program's data lies what the kernel calls the heap, and of Go's programs more of their data.
    if (row.data.binary != kNone) binaryOfLine_ = row.data.binary;
    row.position = {judged.line->space, judged.line->offset + access.offset};
    row.locations = locations;
    row.codeBinary = codeBinary;
    row.width = access.width;
    rows.add(row, access);
  }

  void addWatched(const ClockLine& judged, const std::vector<analysis::RowKey>& keys,
                  analysis::TypedRows& rows, analysis::Line& line) {
    const auto make = [&](const WatchedRow& row) { return onlyWatched(judged, row, rows); };
    const analysis::Turns turns = analysis::turnsOf(judged.watched->seen);
    joinWatch(*judged.watched, turns, keys, make, line);
    addWatchedThreads(*judged.watched, turns, collector_.threads, line);
  }

  /// A row without samples.
  Access onlyWatched(const ClockLine& judged, const WatchedRow& from, analysis::TypedRows& rows) {
    const Line& line = *judged.line;
    Access access;
    access.offset = from.offset;
    access.width = from.width;
    access.locked = from.locked;
    access.codeAddress = from.codeAddress;
    access.elfAddress = from.elfAddress;
    access.code = from.binary == kNone || from.elfAddress == 0 ? code_.atOffset(from.binary, 0)
                                                               : code_.at(from.binary, from.elfAddress);
    analysis::RowData row;
    row.data = dataAt(judged, from.offset);
    row.position = {line.space, line.offset + from.offset};
    row.codeBinary = from.binary;
    row.width = from.width;
    if (!from.placed)
      row.inexact = from.sure ? "it is not known which bytes of the watched word the access touched"
                              : "it is not known which instruction made the access";
    const auto location = watchedLocations_.find(keyOf(line, from));
    if (location != watchedLocations_.end()) row.locations = std::span(&location->second, 1);
    rows.add(row, access);
    return access;
  }

  analysis::Line build(const ClockLine& judged, analysis::TypedRows& rows) {
    const Line& from = *judged.line;
    analysis::Line line = headOf(collector_, from, judged.judgement);
    line.address = judged.address;
    line.mapping = collector_.names.mapping(from.region);
    if (const auto node = nodes_.only()) line.nodes = std::vector<uint32_t>{*node};
    line.contended = judged.contendedSum;
    line.contendedShare = shareOf(judged.contendedSum, report_.contended);
    line.programShare = shareOf(judged.contendedSum, report_.samples);
    if (collector_.isGo(from)) line.goroutines = goroutinesOf(from);
    addThreads(judged, line);

    const analysis::Coalesce& by = options_.coalesce;
    const auto shownAs = [&](size_t number) {
      const LineRow& row = judged.rows[number];
      const analysis::CodeLocation& location = locationOf(row);
      return std::tuple(row.row->offset, by.iaddr || by.dso ? location.binary : 0,
                        by.iaddr ? location.plan.codeAddress : 0, by.tid || by.pid ? threadOf(row).pid : 0,
                        by.tid ? threadOf(row).tid : 0);
    };
    std::vector<size_t> numbers(judged.begun);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::ranges::stable_sort(numbers, [&](size_t a, size_t b) { return shownAs(a) < shownAs(b); });
    rows.beginLine(line);
    stackOwner_ = stackOwnerOf(collector_, from);
    binaryOfLine_ = kNone;
    std::vector<analysis::RowKey> keys;
    std::map<uint32_t, uint32_t> accessOfUse;
    for (size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
      while (end < numbers.size() && shownAs(numbers[end]) == shownAs(numbers[begin])) ++end;
      const auto same = std::span<const size_t>(numbers).subspan(begin, end - begin);
      for (const uint32_t use : usesOf(judged, same))
        accessOfUse.emplace(use, static_cast<uint32_t>(line.accesses.size()));
      Access& access = line.accesses.emplace_back(buildAccess(judged, same));
      line.records += access.records;
      line.loads += access.loads;
      line.stores += access.stores;
      line.rmw += access.rmw;
      if (access.locked) line.locked += access.records;
      nameData(judged, same, rows, access);
      const analysis::CodeLocation& location = locationOf(judged.rows[same.front()]);
      keys.push_back({access.offset, location.binary, location.plan.codeAddress});
    }
    if (binaryOfLine_ != kNone && line.mapping == "[heap]")
      line.mapping = collector_.binaries.path(binaryOfLine_);
    placeUses(
        [&](uint32_t use) {
          const auto found = accessOfUse.find(use);
          return found == accessOfUse.end() ? std::nullopt : std::optional(found->second);
        },
        line);
    if (judged.watched != nullptr) addWatched(judged, keys, rows, line);
    sortAccesses(line);
    return line;
  }

  uint32_t goroutinesOf(const Line& line) const {
    uint32_t count = 0;
    for (uint32_t actor = line.firstActor; actor != kNone; actor = collector_.table.actor(actor).next)
      count += Visitors::isGoroutine(collector_.table.actor(actor).actor);
    return count;
  }

  /// Threads that only reach into the line from the one before are part of the picture, with no samples.
  void addThreads(const ClockLine& judged, analysis::Line& line) const {
    std::map<uint32_t, analysis::ThreadStatistics> byThread;
    for (const analysis::Visitor& visitor : judged.judgement.visitors)
      byThread[visitor.thread].competes |= judged.judgement.competes[visitor.actor];
    for (const LineRow& row : judged.begunRows()) {
      const bool load = locationOf(row).plan.operand.kind == decode::AccessKind::read;
      analysis::ThreadStatistics& thread = byThread[row.thread];
      (load ? thread.loads : thread.stores) += samplesOf(row);
    }
    for (auto& [index, statistics] : byThread) {
      const analysis::Thread& thread = collector_.threads[index];
      statistics.pid = thread.pid;
      statistics.tid = thread.tid;
      statistics.comm = thread.comm;
      line.threads.push_back(std::move(statistics));
    }
    sortThreads(line);
  }

  /// Most samples first.
  static void sortAccesses(analysis::Line& line) {
    std::vector<uint32_t> order(line.accesses.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
      const Access &a = line.accesses[x], &b = line.accesses[y];
      if (a.records != b.records) return a.records > b.records;
      return std::tie(a.offset, a.codeAddress, a.code->object) <
             std::tie(b.offset, b.codeAddress, b.code->object);
    });
    std::vector<Access> sorted;
    std::vector<uint32_t> placeOf(order.size());
    for (const uint32_t from : order) {
      placeOf[from] = static_cast<uint32_t>(sorted.size());
      sorted.push_back(std::move(line.accesses[from]));
    }
    line.accesses = std::move(sorted);
    placeUses([&](uint32_t access) { return placeOf[access]; }, line);
  }

  void addToShared(const ClockLine& judged, const analysis::Line& line) {
    if (!isContended(judged.judgement.verdict)) return;
    ++shared_.lines;
    shared_.loads += line.loads;
    shared_.stores += line.stores;
    shared_.locked += line.locked;
  }

  ClockCollector& collector_;
  const analysis::CpuNodes& nodes_;
  const Options& options_;
  const bool cpusKnown_;
  analysis::Report& report_;
  analysis::CodeNames code_;
  ClockLines lines_;
  std::optional<analysis::StackOwner> stackOwner_;   ///< of the line that is being built
  uint32_t binaryOfLine_ = kNone;                    ///< one of whose variables lies on it
  std::map<WatchedKey, uint32_t> watchedLocations_;  ///< of the evidence of rows that only watchpoints saw
  SharedCounts shared_;
  uint64_t mostInTurns_ = 0;  ///< samples, of one line
};

}  // namespace

void buildReport(ClockCollector& collector, const analysis::CpuNodes& nodes, const Options& options,
                 bool cpusKnown, analysis::Report& report) {
  report.samples = collector.samples;
  report.attributed = collector.attributed;
  report.lost = collector.timeline.lost;
  report.unattributed = collector.unattributed;
  report.phases = collector.phases;
  for (uint32_t thread = 0; thread < collector.samplesOf.size(); ++thread) {
    report.threads.push_back(
        {collector.threads[thread].pid, collector.threads[thread].tid, collector.samplesOf[thread]});
    if (thread < collector.samplesOfPhases.size())
      report.threads.back().byPhase = collector.samplesOfPhases[thread];
  }
  report.seconds = static_cast<double>(collector.lastTime - collector.firstTime) / 1e9;
  ClockReport(collector, nodes, options, cpusKnown, report).run();
  addUnseen(collector.unseen, collector.locations, collector.binaries, collector.timeline,
            collector.timeline.lostSamples, report);
  report.binaries = collector.binaries.states();
}

}  // namespace cacheline::sharing
