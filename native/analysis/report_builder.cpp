// Lines and their accesses as values.
#include "analysis/report_builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "analysis/clock_statistics.h"
#include "analysis/code_names.h"
#include "analysis/typed_rows.h"
#include "analysis/watch_join.h"

namespace cacheline::analysis {

namespace {

using CellView = SharingTable::CellView;

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

template <typename T>
std::vector<T> sortedUnique(std::vector<T> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

class Builder {
 public:
  Builder(Collector& collector, const CpuNodes& nodes, const BuildOptions& options, Report& report)
      : collector_(collector), nodes_(nodes), options_(options), report_(report), code_(collector.binaries) {}

  void run() {
    const std::vector<uint32_t> watched = watchedLines();
    const Coalesce& by = options_.coalesce;
    JudgedTable judged =
        judgeLines(collector_.table, collector_.visitors, collector_.sites, collector_.binaries,
                   {.all = options_.showAll, .byThread = by.tid || by.pid, .also = watched});
    for (JudgedLine& line : judged.lines) judgeByWatch(line);
    for (const JudgedLine& line : judged.lines) {
      report_.contended += line.contended;
      report_.linesOfMany += line.leftOut;
    }
    report_.linesLeftOut = judged.singleThreaded;
    voteForWatched(judged);
    collector_.votes.agree();
    TypedRows rows(collector_.typed, collector_.votes, &collector_.blocks, report_);
    std::vector<const JudgedLine*> order;
    for (const JudgedLine& line : judged.lines) {
      if (line.verdict == Verdict::privateLine && !options_.showAll && watchedAt(line) == nullptr)
        ++report_.linesLeftOut;
      else
        order.push_back(&line);
    }
    std::sort(order.begin(), order.end(),
              [&](const JudgedLine* a, const JudgedLine* b) { return before(*a, *b); });
    report_.lines.reserve(order.size());
    for (const JudgedLine* line : order) {
      report_.lines.push_back(build(*line, rows));
      addToShared(*line, report_.lines.back());
    }
    rows.finish(report_);
    addStatistics(collector_, shared_, report_);
  }

 private:
  const LineEntry& entry(const JudgedLine& line) const { return collector_.table.lines()[line.line]; }

  /// Ascending; in the table now, whether anything was sampled there or not.
  std::vector<uint32_t> watchedLines() {
    std::vector<uint32_t> list;
    if (!collector_.watch) return list;
    for (const WatchedLine& watched : collector_.watch->lines()) {
      bool created = false;
      list.push_back(collector_.table.watch(watched.position, watched.address, created));
      if (created) collector_.table.setRegion(list.back(), watched.region);
    }
    std::sort(list.begin(), list.end());
    return list;
  }
  const WatchedLine* watchedAt(const JudgedLine& line) const {
    if (!collector_.watch) return nullptr;
    return collector_.watch->at({entry(line).space, entry(line).offset});
  }

  struct WatchedKey {
    uint64_t offset = 0;  ///< in the space
    uint32_t space = 0, binary = kNone;
    uint64_t elfAddress = 0;
    auto operator<=>(const WatchedKey&) const = default;
  };
  static WatchedKey keyOf(const LineEntry& line, const WatchedRow& row) {
    return {line.offset + row.offset, line.space, row.binary, row.elfAddress};
  }

  /// Rows that only watchpoints saw say what their code touches.
  void voteForWatched(const JudgedTable& judged) {
    std::vector<ObjectEvidence::Observation> observations;
    std::map<std::pair<uint32_t, uint64_t>, uint32_t>
        sites;  // by binary and instruction, behind the samples'
    for (const JudgedLine& line : judged.lines) {
      const WatchedLine* watched = watchedAt(line);
      if (watched == nullptr || entry(line).named) continue;
      std::set<WatchedKey> sampled;
      for (const CellView& view : line.cells) {
        const CodeLocation& site = collector_.sites[view.key->site];
        sampled.insert({view.key->offset, view.key->space, site.binary, site.plan.codeAddress});
      }
      for (const WatchedRow& row : watched->rows) {
        const WatchedKey key = keyOf(entry(line), row);
        if (!row.placed || row.binary == kNone || !collector_.typed.described(row.binary) ||
            sampled.contains(key))
          continue;
        const auto number = collector_.sites.size() + static_cast<uint32_t>(sites.size());
        ObjectEvidence::Observation& observed = observations.emplace_back();
        observed.position = {key.space, key.offset};
        observed.address = entry(line).address + row.offset;
        observed.site = sites.try_emplace({row.binary, row.elfAddress}, number).first->second;
        observed.binary = row.binary;
        observed.access = row.elfAddress;
        observed.width = row.width;
        watchedSites_.emplace(key, observed.site);
      }
    }
    collector_.votes.add(observations);
  }

  /// Where samples show no sharing, what was seen access by access decides, and where they show readers alone
  /// it knows who writes. It knows no goroutines.
  void judgeByWatch(JudgedLine& line) const {
    const WatchedLine* watched = watchedAt(line);
    if (watched == nullptr || entry(line).go || isContended(line.verdict)) return;
    const Verdict verdict = verdictOf(watched->seen, turnsOf(watched->seen));
    if (line.verdict == Verdict::readShared && !isContended(verdict)) return;
    line.verdict = verdict;
    if (!isContended(verdict)) return;
    for (const CellView& view : line.cells) line.contended += view.cell->count;
  }

  bool before(const JudgedLine& a, const JudgedLine& b) const {
    if (a.contended != b.contended) return a.contended > b.contended;
    const LineEntry &first = entry(a), &second = entry(b);
    if (first.address != second.address) return first.address < second.address;
    if (first.space != second.space) return collector_.lineSpaces.isBefore(first.space, second.space);
    return a.line < b.line;
  }

  static void count(const CodeLocation& site, uint64_t samples, Access& access) {
    access.records += samples;
    if (site.plan.operand.kind == decode::AccessKind::read) {
      access.loads += samples;
    } else {
      access.stores += samples;
      if (site.plan.operand.kind == decode::AccessKind::readWrite) access.rmw += samples;
    }
    if (access.skid.size() <= site.plan.skid) access.skid.resize(site.plan.skid + size_t{1});
    access.skid[site.plan.skid] += static_cast<uint32_t>(samples);
  }

  const Thread& threadOf(const CellView& view) const {
    return collector_.threads[collector_.visitors.thread(view.key->visitor)];
  }

  /// One row: cells of one offset. `uses`: their PlaceUses.
  Access buildAccess(const JudgedLine& judged, std::span<const uint32_t> uses,
                     std::span<const CellView> cells) {
    const LineEntry& line = entry(judged);
    const CodeLocation& first = collector_.sites[cells.front().key->site];
    Access access;
    access.offset = static_cast<uint32_t>(cells.front().key->offset - line.offset);
    access.width = first.plan.operand.width;
    access.locked = first.plan.operand.locked;
    access.codeAddress = first.codeAddress;
    access.elfAddress = first.plan.codeAddress;
    access.code = code_.of(first);
    std::vector<std::pair<uint32_t, uint64_t>> cpus;  // group, mask
    if (judged.waiting) addWaits(judged, uses, access);
    for (const CellView& view : cells) {
      const CodeLocation& site = collector_.sites[view.key->site];
      if (sameCode(site, first)) access.codeAddress = std::min(access.codeAddress, site.codeAddress);
      access.width = std::max(access.width, site.plan.operand.width);
      access.locked |= site.plan.operand.locked;
      count(site, view.cell->count, access);
      if (isContended(judged.verdict) && !judged.waiting) access.contended += view.cell->count;
      const Thread& thread = threadOf(view);
      access.threads.push_back(thread.tid);
      access.processes.push_back(thread.pid);
      cpus.emplace_back(view.key->cpuGroup, view.cell->cpus);
    }
    access.threads = sortedUnique(std::move(access.threads));
    access.processes = sortedUnique(std::move(access.processes));
    if (options_.cpusKnown) placeCpus(cpus, access);
    if (collector_.callers)
      access.callers = collector_.callers->of({line.space, cells.front().key->offset}, first, code_);
    return access;
  }

  static bool sameCode(const CodeLocation& a, const CodeLocation& b) {
    return a.binary == b.binary && a.plan.codeAddress == b.plan.codeAddress;
  }

  static void addWaits(const JudgedLine& judged, std::span<const uint32_t> uses, Access& access) {
    const Waiting& waiting = *judged.waiting;
    access.word = waiting.wordOf[uses.front()];
    for (const uint32_t use : uses) {
      access.contended += judged.contendedAt(use);
      access.waits.add(waiting.uses[use]);
      if (waiting.wordOf[use] != access.word) access.word.reset();
    }
    if (uses.size() == 1)
      access.falseShare = waiting.shares[uses.front()];
    else if (access.waits.known > 0)
      access.falseShare = access.waits.falsely / access.waits.known;
  }

  std::optional<StackOwner> stackOwner(const LineEntry& line) const {
    StackOwners::Span span;
    for (uint32_t use = line.firstUse; use != kNone; use = collector_.table.use(use).next)
      span.add(collector_.table.use(use).runs);
    return collector_.stacks.of(line.region, collector_.lineSpaces[line.space].pid, span);
  }

  /// What lies at an offset of the line that is being built.
  NamedData dataAt(const LineEntry& line, uint32_t offset, uint64_t position) {
    return collector_.names.name(line.region, line.stack, stackOwner_, line.address + offset, position);
  }

  void nameData(const JudgedLine& judged, std::span<const CellView> cells, TypedRows& rows, Access& access) {
    const LineEntry& line = entry(judged);
    const CellKey& first = *cells.front().key;
    std::vector<uint32_t> sites;
    for (const CellView& view : cells) sites.push_back(view.key->site);
    sites = sortedUnique(std::move(sites));
    RowData row;
    row.data = dataAt(line, access.offset, first.offset);
    // Behind a program's data lies what the kernel calls the heap, and of Go's programs more of their data.
    if (row.data.binary != kNone) binaryOfLine_ = row.data.binary;
    row.position = {first.space, first.offset};
    row.sites = sites;
    row.codeBinary = collector_.sites[first.site].binary;
    row.width = access.width;
    rows.add(row, access);
  }

  void addWatched(const JudgedLine& judged, const WatchedLine& watched, const std::vector<RowKey>& keys,
                  TypedRows& rows, Line& line) {
    const auto make = [&](const WatchedRow& row) { return onlyWatched(judged, row, rows); };
    const Turns turns = turnsOf(watched.seen);
    joinWatch(watched, turns, keys, make, line);
    addWatchedThreads(watched, turns, collector_.threads, line);
  }

  /// A row without samples.
  Access onlyWatched(const JudgedLine& judged, const WatchedRow& from, TypedRows& rows) {
    const LineEntry& line = entry(judged);
    Access access;
    access.offset = from.offset;
    access.width = from.width;
    access.locked = from.locked;
    access.codeAddress = from.codeAddress;
    access.elfAddress = from.elfAddress;
    access.code = from.binary == kNone || from.elfAddress == 0 ? code_.atOffset(from.binary, 0)
                                                               : code_.at(from.binary, from.elfAddress);
    RowData row;
    row.data = dataAt(line, from.offset, line.offset + from.offset);
    row.position = {line.space, line.offset + from.offset};
    row.codeBinary = from.binary;
    row.width = from.width;
    if (!from.placed)
      row.inexact = from.sure ? "it is not known which bytes of the watched word the access touched"
                              : "it is not known which instruction made the access";
    const auto site = watchedSites_.find(keyOf(line, from));
    if (site != watchedSites_.end()) row.sites = std::span(&site->second, 1);
    rows.add(row, access);
    return access;
  }

  void placeCpus(const std::vector<std::pair<uint32_t, uint64_t>>& groups, Access& access) const {
    std::vector<uint32_t> cpus;
    for (const auto& [group, mask] : groups)
      for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
        cpus.push_back(group * 64 + static_cast<uint32_t>(std::countr_zero(rest)));
    cpus = sortedUnique(std::move(cpus));
    access.cpus = static_cast<uint32_t>(cpus.size());
    for (const uint32_t cpu : cpus)
      if (const auto node = nodes_.of(cpu)) access.nodes.push_back(*node);
    access.nodes = sortedUnique(std::move(access.nodes));
  }

  std::vector<std::string> flags(const JudgedLine& judged) const {
    std::vector<std::string> list;
    if (judged.straddling) list.emplace_back("straddling");
    if (judged.adjacent && !options_.doubleLine) list.emplace_back("adjacent");
    if (judged.mixedUse) list.emplace_back("mixed-use");
    if (judged.lock) list.emplace_back("lock");
    return list;
  }

  Line build(const JudgedLine& judged, TypedRows& rows) {
    const LineEntry& from = entry(judged);
    Line line;
    line.address = from.address;
    const LineSpace& space = collector_.lineSpaces[from.space];
    line.space = space.label();
    if (space.shared) line.fileOffset = from.offset;
    line.mapping = collector_.names.mapping(from.region);
    if (const auto node = nodes_.only()) line.nodes = std::vector<uint32_t>{*node};
    line.verdict = judged.verdict;
    line.flags = flags(judged);
    line.contended = judged.contended;
    line.contendedShare = share(judged.contended, report_.contended);
    line.programShare = share(judged.contended, report_.samples);
    if (from.go) line.goroutines = judged.goroutines;
    if (isContended(judged.verdict))
      line.falseShare = judged.waiting ? judged.waiting->line.share() : FalseShare();
    addThreads(judged, line);

    const Coalesce& by = options_.coalesce;
    const auto row = [&](size_t cell) {
      const CellView& view = judged.cells[cell];
      const CodeLocation& site = collector_.sites[view.key->site];
      const Thread& thread = threadOf(view);
      return std::tuple(view.key->offset, by.iaddr || by.dso ? site.binary : 0,
                        by.iaddr ? site.plan.codeAddress : 0, by.tid || by.pid ? thread.pid : 0,
                        by.tid ? thread.tid : 0);
    };
    std::vector<size_t> order(judged.cells.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return row(a) < row(b); });
    std::vector<CellView> cells;
    for (const size_t cell : order) cells.push_back(judged.cells[cell]);
    rows.beginLine(line);
    stackOwner_ = stackOwner(from);
    binaryOfLine_ = kNone;
    std::vector<RowKey> keys;
    std::map<uint32_t, uint32_t> accessOfUse;
    for (size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
      while (end < cells.size() && row(order[end]) == row(order[begin])) ++end;
      const auto same = std::span(cells).subspan(begin, end - begin);
      std::vector<uint32_t> uses;
      for (size_t i = begin; i < end; ++i) uses.push_back(judged.useOfCell[order[i]]);
      uses = sortedUnique(std::move(uses));
      for (const uint32_t use : uses) accessOfUse.emplace(use, static_cast<uint32_t>(line.accesses.size()));
      line.accesses.push_back(buildAccess(judged, uses, same));
      Access& access = line.accesses.back();
      line.records += access.records;
      line.loads += access.loads;
      line.stores += access.stores;
      line.rmw += access.rmw;
      if (access.locked) line.locked += access.records;
      nameData(judged, same, rows, access);
      const CodeLocation& site = collector_.sites[same.front().key->site];
      keys.push_back({access.offset, site.binary, site.plan.codeAddress});
    }
    if (binaryOfLine_ != kNone && line.mapping == "[heap]")
      line.mapping = collector_.binaries.path(binaryOfLine_);
    if (judged.waiting) addVictims(judged, accessOfUse, line);
    if (const WatchedLine* watched = watchedAt(judged)) addWatched(judged, *watched, keys, rows, line);
    sortAccesses(line);
    return line;
  }

  void addThreads(const JudgedLine& judged, Line& line) const {
    // Threads that only reach into the line from the one before are part of the picture, with no samples.
    std::map<uint32_t, ThreadStatistics> byThread;
    for (const JudgedLine::Guest& guest : judged.guests)
      byThread[collector_.visitors.thread(guest.visitor)].competes |= guest.competes;
    for (const CellView& view : judged.cells) {
      ThreadStatistics& use = byThread[collector_.visitors.thread(view.key->visitor)];
      const bool load = collector_.sites[view.key->site].plan.operand.kind == decode::AccessKind::read;
      (load ? use.loads : use.stores) += view.cell->count;
    }
    for (auto& [index, use] : byThread) {
      const Thread& thread = collector_.threads[index];
      use.pid = thread.pid;
      use.tid = thread.tid;
      use.comm = thread.comm;
      line.threads.push_back(std::move(use));
    }
    sortThreads(line);
  }

  /// Most samples first.
  static void sortAccesses(Line& line) {
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
    for (Victim& victim : line.victims)
      for (std::optional<uint32_t>* access : {&victim.access, &victim.cause})
        if (*access) *access = placeOf[**access];
  }

  void addVictims(const JudgedLine& judged, const std::map<uint32_t, uint32_t>& accessOfUse,
                  Line& line) const {
    const Waiting& waiting = *judged.waiting;
    line.words = waiting.words;
    line.causes = waiting.causes;
    const auto accessOf = [&](uint32_t use) -> std::optional<uint32_t> {
      const auto found = accessOfUse.find(use);
      if (found == accessOfUse.end()) return std::nullopt;
      return found->second;
    };
    for (const WaitVictim& from : waiting.victims) {
      Victim& victim = line.victims.emplace_back();
      victim.words = from.words;
      for (const uint32_t visitor : from.visitors)
        victim.threads.push_back(
            collector_.threads[collector_.visitors.thread(judged.guests[visitor].visitor)].tid);
      victim.threads = sortedUnique(std::move(victim.threads));
      victim.contended = static_cast<uint64_t>(std::llround(from.waiting));
      victim.falseShare = from.falseShare;
      victim.access = accessOf(from.use);
      victim.cause = accessOf(from.cause);
    }
  }

  static void sortThreads(Line& line) {
    std::sort(line.threads.begin(), line.threads.end(),
              [](const ThreadStatistics& a, const ThreadStatistics& b) {
                return std::tie(a.pid, a.tid) < std::tie(b.pid, b.tid);
              });
  }

  void addToShared(const JudgedLine& judged, const Line& line) {
    if (!isContended(judged.verdict)) return;
    ++shared_.lines;
    shared_.loads += line.loads;
    shared_.stores += line.stores;
    shared_.locked += line.locked;
  }

  Collector& collector_;
  const CpuNodes& nodes_;
  const BuildOptions& options_;
  Report& report_;
  CodeNames code_;
  std::optional<StackOwner> stackOwner_;         ///< of the line that is being built
  uint32_t binaryOfLine_ = kNone;                ///< one of whose variables lies on it
  std::map<WatchedKey, uint32_t> watchedSites_;  ///< of votes for rows that only watchpoints saw
  SharedCounts shared_;
};

}  // namespace

void buildReport(Collector& collector, const CpuNodes& nodes, const BuildOptions& options, Report& report) {
  report.samples = collector.samples;
  report.attributed = collector.attributed;
  report.lost = collector.timeline.lost;
  report.unattributed = collector.unattributed;
  report.seconds = static_cast<double>(collector.lastTime - collector.firstTime) / 1e9;
  Builder(collector, nodes, options, report).run();
  addUnseen(collector.unseen, collector.sites, collector.binaries, collector.timeline,
            collector.timeline.lostSamples, report);
  report.binaries = collector.binaries.states();
}

}  // namespace cacheline::analysis
