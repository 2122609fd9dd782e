// Lines, rows and statistics of memory samples.
#include "sharing/memory_report.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "analysis/blindness.h"
#include "analysis/findings.h"
#include "analysis/typed_rows.h"
#include "analysis/watch_join.h"
#include "base/job_queue.h"
#include "sharing/code.h"
#include "sharing/memory_lines.h"
#include "sharing/memory_statistics.h"
#include "sharing/selection.h"
#include "sharing/summed_rows.h"
#include "text/terminal_text.h"

namespace cacheline::sharing {

namespace {

constexpr ptrdiff_t kWorthAThread = 200;  ///< instructions whose types are asked for; each takes some 0.2 ms

/// "0-3,8" of ascending numbers.
std::string listOf(const std::vector<uint32_t>& numbers) {
  std::string list;
  text::appendRanges(list, numbers);
  return list;
}

class MemoryReport {
 public:
  MemoryReport(MemoryCollector& collector, const Survey& survey, const analysis::WatchEvidence* watched,
               Display display, const Options& options, analysis::Report& report)
      : collector_(collector),
        survey_(survey),
        watched_(watched),
        display_(display),
        options_(options),
        report_(report),
        code_(collector),
        lines_(collector, code_, watched, report.lineSize, options, display) {}

  void run() {
    const SharedLines& shared = survey_.shared;
    addStatistics(survey_, report_);
    report_.contended = metricOf(shared.tally, display_);  // other lines have none
    std::vector<SelectedLine> lines =
        selectLines(collector_.table, collector_.lineSpaces, shared, display_, options_.showAll);
    addWatched(lines);
    summed_ = selectSummed(collector_.table, collector_.lineSpaces, survey_.summed, display_, lines);
    report_.contendedLeftOut = report_.contended;
    for (const SelectedLine& line : lines) *report_.contendedLeftOut -= line.metric;
    report_.linesLeftOut = survey_.lines - std::min<uint64_t>(survey_.lines, lines.size());
    report_.lines.reserve(lines.size());
    findPerCpuCopies(lines);
    std::vector<Observation> observations;
    for (const std::vector<SelectedLine>* list : {&lines, &summed_}) addObservations(*list, observations);
    openTypes(observations);
    // What types the code touches is found out beside the rows and the names of the code; who is ready first
    // helps the other one.
    analysis::CodeNames::Batch names;
    JobQueue<Job> second(threads_, JobQueue<Job>::Behind::wait, [](unsigned, const Job& job) { job(); });
    second.put([this, rows = std::move(observations)] { addEvidence(rows); });
    lines_.judge(lines,
                 [&](size_t number, const LineJudgement& judgement) { addLine(lines[number], judgement); });
    names.add(codePlaces());
    second.put([&] { names.work([this](uint32_t of) -> auto& { return collector_.typed.module(of); }); });
    names.work([this](uint32_t of) -> auto& { return collector_.binaries.module(of); });
    collector_.objectEvidence.help(collector_.typedAside);
    second.finish();
    code_.take(names);
    nameRows(lines);
    if (!report_.splits) return;
    report_.splits->unplaced =
        collector_.unplaced()->take([this](uint32_t location) { return code_.name(location); });
    addSplitNames(collector_, collector_.cpuNodes, report_);
  }

 private:
  using Observation = analysis::ObjectEvidence::Observation;
  using Job = std::function<void()>;

  /// What was watched is listed, also where it has too few HITMs.
  void addWatched(std::vector<SelectedLine>& lines) const {
    if (watched_ == nullptr) return;
    for (const analysis::WatchedLine& watched : watched_->lines()) {
      const uint32_t index = collector_.table.find(watched.position.space, watched.position.offset);
      if (index == kNone) continue;
      const Line* line = &collector_.table.line(index);
      if (std::ranges::none_of(lines, [line](const SelectedLine& listed) { return listed.line == line; }))
        lines.push_back({line, metricOf(line->tally, display_)});
    }
  }

  /// Of vmlinux, not of a module.
  bool ofKernelItself(uint32_t index) const {
    const SampledCode& location = collector_.places.location(index);
    return location.kernel && collector_.kernel->object(location.address) == analysis::kKernelObject;
  }

  /// The kernel's per-CPU data, by all rows whose code names a variable of its own CPU: most of those touch
  /// lines that no other CPU does, and are not listed.
  void findPerCpuCopies(const std::vector<SelectedLine>& lines) {
    const auto ofKernel = [this](const Line& line) { return collector_.lineSpaces[line.space].kernel; };
    const auto anyOfKernel = [&](const std::vector<SelectedLine>& list) {
      return std::ranges::any_of(list, [&](const SelectedLine& line) { return ofKernel(*line.line); });
    };
    if (!anyOfKernel(lines) && !anyOfKernel(summed_)) return;
    collector_.table.eachLine([&](const Line& line) {
      if (!ofKernel(line)) return;
      for (uint32_t index = line.firstRow; index != kNone; index = collector_.table.row(index).next) {
        const Row& row = collector_.table.row(index);
        if (!ofKernelItself(row.location)) continue;
        const std::optional<uint64_t> variable = code_.entry(row.location).facts.perCpu;
        if (!variable) continue;
        const std::vector<uint32_t> cpus = row.cpus.list();
        collector_.kernel->onPerCpu(*variable, line.address + (row.offset - line.offset),
                                    cpus.size() == 1 ? std::optional(cpus[0]) : std::nullopt);
      }
    });
  }

  std::optional<std::vector<uint32_t>> nodesOf(const PhysicalPlace& place) const {
    if (!physicalKnown()) return std::nullopt;
    std::vector<uint32_t> nodes = place.nodes.list();
    return nodes.empty() ? std::nullopt : std::optional(std::move(nodes));
  }
  std::optional<uint64_t> changesOf(const PhysicalPlace& place) const {
    return physicalKnown() ? std::optional<uint64_t>(place.changes) : std::nullopt;
  }
  bool physicalKnown() const { return survey_.totals.physical && collector_.memoryNodes.known(); }

  /// The rows to be named say what their code touches, where no sample's registers did.
  void addObservations(const std::vector<SelectedLine>& lines, std::vector<Observation>& observations) {
    for (const SelectedLine& selected : lines) {
      const Line& line = *selected.line;
      const bool kernel = collector_.lineSpaces[line.space].kernel;
      if (!kernel && (line.region == analysis::kNone ||
                      collector_.names.isNamed(line.region, line.address, collector_.table.lineSize())))
        continue;
      for (uint32_t index = line.firstRow; index != kNone; index = collector_.table.row(index).next) {
        const Row& row = collector_.table.row(index);
        if (!collector_.places.location(row.location).exact)
          continue;  // the access may be another instruction's
        const uint64_t address = line.address + (row.offset - line.offset);
        if (kernel && !collector_.kernel->data(address).symbol.empty()) continue;
        const Code::Entry& code = code_.entry(row.location);
        if (code.binary == analysis::kNone) continue;
        // vmlinux's variables have symbols: another instruction ran, which the kernel put there.
        if (kernel && code.facts.fixed && ofKernelItself(row.location)) continue;
        Observation& observed = observations.emplace_back();
        observed.position = {line.space, row.offset};
        observed.address = address;
        observed.location = row.location;
        observed.binary = code.binary;
        observed.access = code.elfAddress;
        observed.width = code.facts.width;
      }
    }
  }

  /// Of the binaries whose types are asked for; apart from those that names are read from where there is
  /// enough to ask for a second thread.
  void openTypes(const std::vector<Observation>& observations) {
    std::vector<uint32_t> locations;
    for (const Observation& observed : observations) {
      locations.push_back(observed.location);
      described_.insert(observed.binary);
    }
    std::sort(locations.begin(), locations.end());
    if (std::unique(locations.begin(), locations.end()) - locations.begin() < kWorthAThread) {
      threads_ = 1;
      collector_.typed.share();
    }
    std::erase_if(described_, [this](uint32_t binary) { return !collector_.typed.described(binary); });
  }

  /// The code of the rows in binaries whose debug information both threads have open.
  std::vector<analysis::CodeNames::Place> codePlaces() {
    std::vector<analysis::CodeNames::Place> places;
    for (const Row* row : listed_) {
      const Code::Entry& code = code_.entry(row->location);
      if (!collector_.places.location(row->location).kernel && code.elfAddress != 0 &&
          described_.contains(code.binary))
        places.push_back({code.binary, code.elfAddress});
    }
    return places;
  }

  /// Uses nothing but the binaries' types.
  void addEvidence(const std::vector<Observation>& observations) {
    collector_.objectEvidence.add(observations);
    collector_.objectEvidence.agree();
  }

  /// All but the names of its code and its data, and who called. `built`: the rows of its accesses are added.
  analysis::Line build(const SelectedLine& selected, const LineJudgement& judgement,
                       std::vector<const Row*>& built) {
    const AccessTable& table = collector_.table;
    const Line& from = *selected.line;
    collector_.table.settle(from);
    const RowTally& tally = from.tally;
    const analysis::LineSpace& space = collector_.lineSpaces[from.space];
    report_.linesOfMany += judgement.leftOut;
    analysis::Line line = headOf(collector_, from, judgement);
    addThreads(from, judgement, line);
    line.mapping = space.kernel                     ? collector_.kernel->object(from.address)
                   : from.region == analysis::kNone ? "[unknown]"
                                                    : collector_.names.mapping(from.region);
    line.nodes = nodesOf(from.physical);
    line.physicalChanges = changesOf(from.physical);
    line.contended = selected.metric;
    line.contendedShare = shareOf(selected.metric, report_.contended);
    line.programShare = shareOf(selected.metric, report_.samples);
    line.records = tally.placedRecords();
    line.loads = tally.placedLoads();
    line.stores = tally[RowCounter::stores];
    line.locked = from.locked;
    line.memory = countsOf(tally);
    const std::vector<SelectedRow> rows = rowsOf(table, from, display_);
    line.accesses.reserve(rows.size());
    std::vector<std::optional<uint32_t>> accessOf(judgement.logged.size());
    for (const SelectedRow& row : rows) {
      if (!options_.showAll && !isListed(row, display_)) continue;
      for (const uint32_t use : {judgement.rows[row.number].loads, judgement.rows[row.number].stores})
        if (use < accessOf.size()) accessOf[use] = static_cast<uint32_t>(line.accesses.size());
      analysis::Access& access = line.accesses.emplace_back(build(table, from, row));
      lines_.addWaits(judgement, row.number, access);
      built.push_back(row.row);
    }
    placeUses([&](uint32_t use) { return accessOf[use]; }, line);
    return line;
  }

  void addLine(const SelectedLine& selected, const LineJudgement& judgement) {
    const size_t first = listed_.size();
    analysis::Line& line = report_.lines.emplace_back(build(selected, judgement, listed_));
    for (size_t i = 0; i < line.accesses.size(); ++i) addDetails(*listed_[first + i], line.accesses[i]);
  }

  void nameRows(const std::vector<SelectedLine>& lines) {
    analysis::TypedRows rows(collector_.typed, collector_.objectEvidence, &collector_.blocks, report_);
    auto row = listed_.begin();
    for (size_t i = 0; i < lines.size(); ++i) {
      const Line& from = *lines[i].line;
      analysis::Line& line = report_.lines[i];
      rows.beginLine(line);
      lines_.beginLine(from);
      std::vector<analysis::RowKey> keys;
      for (analysis::Access& access : line.accesses) {
        access.code = code_.name((*row)->location);
        if (options_.callers) access.callers = callersOf((*row)->location);
        lines_.nameData(from, **row, false, access, rows);
        const Code::Entry& code = code_.entry((*row++)->location);
        keys.push_back({access.offset, code.binary, code.elfAddress});
      }
      // Rows are those of the samples; who else was seen is in the words of the confirmation.
      if (const analysis::WatchedLine* watched = lines_.watchedAt(from)) {
        const analysis::Turns turns = analysis::turnsOf(watched->seen);
        analysis::joinWatch(*watched, turns, keys, {}, line);
        analysis::addWatchedThreads(*watched, turns, collector_.threads, line);
      }
    }
    SummedRows(collector_, code_, lines_, display_, survey_.totals.cycles).add(summed_, rows);
    rows.finish(report_);
    analysis::addFindings(report_);
    if (options_.heapSites) report_.heapSites = collector_.blocks.sites(collector_.table.lineSize());
  }

  void addThreads(const Line& from, const LineJudgement& judgement, analysis::Line& line) const {
    const AccessTable& table = collector_.table;
    for (uint32_t index = from.firstActor; index != kNone; index = table.actor(index).next) {
      const ActorStatistics& actor = table.actor(index);
      const analysis::Thread& thread = collector_.threads[actor.actor];
      line.threads.push_back({thread.pid, thread.tid, thread.comm, actor.loads, actor.stores,
                              judgement.competes[actor.ordinal]});
    }
    sortThreads(line);
  }
  analysis::Access build(const AccessTable& table, const Line& line, const SelectedRow& selected) {
    const Row& row = *selected.row;
    const SampledCode& location = collector_.places.location(row.location);
    analysis::Access access;
    access.offset = static_cast<uint32_t>(row.offset - line.offset);
    access.codeAddress = location.address;
    {
      const Code::Entry& code = code_.entry(row.location);
      access.width = code.facts.width;
      access.elfAddress = code.elfAddress;
      access.locked = code.facts.locked || table.sums(row).locked != 0;
      if (code.binary != analysis::kNone)
        collector_.binaries.countSamples(code.binary, table.sums(row).samples);
    }
    access.records = selected.tally.placedRecords();
    access.loads = selected.tally.placedLoads();
    access.stores = selected.tally[RowCounter::stores];
    access.contended = metricOf(selected.tally, display_);
    lines_.addThreads(line, std::array{&row.loaders, &row.storers}, access);
    access.memory.emplace().counts = countsOf(selected.tally);
    if (survey_.totals.cycles) access.memory->cycles = cyclesOf(table, row);
    if (report_.splits) addSplits(table, row, access);
    return access;
  }

  void addSplits(const AccessTable& table, const Row& row, analysis::Access& access) const {
    table.eachSplit(row, [&](const SplitCounts& counts) {
      RowTally tally;
      tally.add(counts.counts);
      access.splits.push_back({.place = {counts.actor, counts.cpu, counts.bin},
                               .samples = counts.samples,
                               .loads = counts.loads,
                               .stores = counts.stores,
                               .misses = counts.misses,
                               .contended = metricOf(tally, display_),
                               .counts = countsOf(tally)});
    });
    std::ranges::sort(access.splits, {}, &analysis::AccessSplit::place);
  }

  /// What no sum is made of.
  void addDetails(const Row& row, analysis::Access& access) {
    const AccessTable& table = collector_.table;
    analysis::MemoryEvidence& memory = *access.memory;
    const std::vector<uint32_t> cpus = row.cpus.list();
    access.cpus = static_cast<uint32_t>(cpus.size());
    memory.nodes = nodesOf(row.physical);
    memory.physicalChanges = changesOf(row.physical);
    memory.cpuList = listOf(cpus);
    table.eachNode(row, [&](uint16_t node, const NodeCounts& counts) {
      if (node != MemoryAccess::kNoNode) memory.nodeUse.push_back(nodeUse(node, counts, cpus));
    });
    std::sort(memory.nodeUse.begin(), memory.nodeUse.end(),
              [](const auto& a, const auto& b) { return a.node < b.node; });
    for (const analysis::NodeStatistics& use : memory.nodeUse) access.nodes.push_back(use.node);
    if (memory.cycles) {
      const Percentiles percentiles = table.percentiles(row);
      memory.cycles->p50 = percentiles.p50;
      memory.cycles->p95 = percentiles.p95;
      memory.cycles->max = percentiles.max;
    }
  }

  /// All but percentiles.
  static analysis::Cycles cyclesOf(const AccessTable& table, const Row& row) {
    const RowSums& sums = table.sums(row);
    const auto mean = [&](std::initializer_list<CycleKind> kinds) {
      uint64_t count = 0, sum = 0;
      for (const CycleKind kind : kinds) {
        count += sums.loads[static_cast<size_t>(kind)];
        sum += sums.cycles[static_cast<size_t>(kind)];
      }
      return shareOf(sum, count);
    };
    analysis::Cycles cycles;
    cycles.remoteHitm = mean({CycleKind::remoteHitm});
    cycles.localHitm = mean({CycleKind::localHitm});
    cycles.remotePeer = mean({CycleKind::remotePeer});
    cycles.localPeer = mean({CycleKind::localPeer});
    cycles.peer = mean({CycleKind::remotePeer, CycleKind::localPeer});
    cycles.load = mean({CycleKind::load});
    cycles.sum = std::accumulate(sums.cycles.begin(), sums.cycles.end(), uint64_t{0});
    cycles.loads = std::accumulate(sums.loads.begin(), sums.loads.end(), uint64_t{0});
    return cycles;
  }

  std::vector<analysis::Callers> callersOf(uint32_t location) {
    const auto addressOf = [&](uint32_t frame) { return collector_.places.location(frame).address; };
    return collector_.callers.of(location, addressOf, [&](uint32_t frame) {
      return analysis::callerFrame(addressOf(frame), *code_.name(frame));
    });
  }

  analysis::NodeStatistics nodeUse(uint16_t node, const NodeCounts& counts,
                                   const std::vector<uint32_t>& cpus) const {
    std::vector<uint32_t> own;
    for (const uint32_t cpu : cpus)
      if (collector_.cpuNodes.of(cpu) == node) own.push_back(cpu);
    RowTally tally;
    tally.add(counts.counts);
    return {node,
            static_cast<uint32_t>(own.size()),
            listOf(own),
            tally[RowCounter::localHitm],
            tally[RowCounter::remoteHitm],
            tally[RowCounter::localPeer],
            tally[RowCounter::remotePeer],
            tally[RowCounter::stores]};
  }

  MemoryCollector& collector_;
  const Survey& survey_;
  const analysis::WatchEvidence* watched_;
  const Display display_;
  const Options& options_;
  analysis::Report& report_;
  Code code_;
  MemoryLines lines_;
  unsigned threads_ = options_.threads;  ///< for naming
  std::set<uint32_t> described_;         ///< binaries whose types were asked for, and that have some
  std::vector<SelectedLine> summed_;     ///< lines that are not listed
  std::vector<const Row*> listed_;       ///< of the report's accesses, in their order
};

}  // namespace

void buildReport(MemoryCollector& collector, const Survey& survey, const analysis::WatchEvidence* watched,
                 Display display, const Options& options, analysis::Report& report) {
  const Totals& totals = survey.totals;
  report.samples = totals.tally[Counter::records];
  report.attributed = totals.attributed;
  report.lost = collector.timeline.lost;
  report.unattributed.noMemoryOperand = totals.tally[Counter::noParse];
  report.unattributed.unmapped = totals.tally[Counter::ldNoAddress] + totals.tally[Counter::stNoAddress];
  report.blind = analysis::blindOf(
      {{analysis::UnseenReason::unmapped, "memory accesses whose addresses were not recorded",
        report.unattributed.unmapped},
       {analysis::UnseenReason::lost, analysis::kLostSamples, collector.timeline.lostSamples}},
      report.samples + collector.timeline.lostSamples);
  report.seconds = totals.seconds();
  MemoryReport(collector, survey, watched, display, options, report).run();
  report.binaries = collector.binaries.states();
  for (analysis::BinaryState& state : collector.kernel->states()) report.binaries.push_back(std::move(state));
}

}  // namespace cacheline::sharing
