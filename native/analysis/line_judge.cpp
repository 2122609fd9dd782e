// Bytes, runs and samples of every line, put before judgeLine().
#include "analysis/line_judge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace cacheline::analysis {

namespace {

/// Puts together what was seen at one line.
class LineReader {
 public:
  LineReader(const SharingTable& table, const Visitors& visitors, const Attribution& sites,
             Binaries& binaries, const SharingTable::Selection& selection, bool byThread)
      : table_(table),
        visitors_(visitors),
        sites_(sites),
        binaries_(binaries),
        selection_(selection),
        byThread_(byThread) {}

  JudgedLine judge(uint32_t line) {
    JudgedLine judged;
    judged.line = line;
    judged.cells = part(selection_.cells, selection_.cellsFrom, line);
    accesses_ = {};
    uses_.clear();
    places_.clear();
    visitorAt_.clear();
    threadAt_.clear();
    for (uint32_t use = table_.lines()[line].firstUse; use != kNone; use = table_.use(use).next)
      uses_.push_back(use);
    std::sort(uses_.begin(), uses_.end());
    accesses_.actors.resize(uses_.size());
    for (size_t i = 0; i < uses_.size(); ++i) {
      accesses_.actors[i].runs = table_.use(uses_[i]).runs.runs();
      judged.goroutines += Visitors::isGoroutine(table_.use(uses_[i]).actor);
    }
    isPlaced_.assign(uses_.size(), false);
    addPlaces(judged);
    const LineVerdict verdict = judgeLine(accesses_);
    judged.verdict = verdict.verdict;
    judged.lock = verdict.judgement.lock;
    judged.mixedUse = verdict.judgement.mixedUse;
    judged.leftOut = verdict.judgement.leftOut > 0;
    for (size_t i = 0; i < judged.guests.size(); ++i)
      judged.guests[i].competes = verdict.judgement.competes[accesses_.visitors[i].actor];
    judged.waiting = verdict.waiting;
    return judged;
  }

 private:
  template <typename T>
  std::span<const T> part(const std::vector<T>& list, const std::vector<size_t>& from, uint32_t line) const {
    return std::span(list).subspan(from[line], from[line + 1] - from[line]);
  }

  void addPlaces(JudgedLine& judged) {
    const uint32_t lineSize = table_.lineSize(), line = judged.line;
    std::vector<std::pair<uint32_t, uint32_t>> ofCell, ofReach;  // use, visitor
    for (const SharingTable::CellView& view : judged.cells) {
      const uint32_t width = sites_[view.key->site].plan.operand.width;
      const auto offset = static_cast<uint32_t>(view.key->offset % lineSize);
      judged.straddling |= offset + uint64_t{width} > lineSize;
      ofCell.emplace_back(placeOf(offset, width, view.key->site, view.key->visitor),
                          visitorOf(view.cell->use, view.key->visitor, judged));
      judged.useOfCell.push_back(ofCell.back().first);
      mark(view.cell->use, view.key->site, bytesFrom(offset, width, lineSize));
      for (const decode::Companion& each : sites_[view.key->site].companions) {
        const int64_t at = offset + each.delta;
        if (at < 0 || at >= lineSize) continue;
        const auto start = static_cast<uint32_t>(at);
        const uint32_t size = std::max(each.width, 1u);
        accesses_.known.push_back({start, size, actorOf(view.cell->use), each.reads, each.writes});
        accesses_.steps.push_back({ofCell.back().first, start, size});
      }
    }
    const auto reaches = part(selection_.reaches, selection_.reachesFrom, line);
    for (const SharingTable::Reach& reach : reaches) {
      ofReach.emplace_back(placeOf(0, reach.bytes, reach.site, reach.visitor),
                           visitorOf(reach.use, reach.visitor, judged));
      mark(reach.use, reach.site, bytesFrom(0, reach.bytes, lineSize));
    }
    const std::span<const uint32_t> steps = part(selection_.steps, selection_.stepsFrom, line);
    accesses_.samples.reserve(steps.size());
    for (const uint32_t step : steps) {
      const bool isReach = step >= SharingTable::kReach;
      const auto& [use, visitor] = isReach
                                       ? ofReach[step - SharingTable::kReach - selection_.reachesFrom[line]]
                                       : ofCell[step - selection_.cellsFrom[line]];
      accesses_.samples.push_back({use, visitor, !isReach});  // those are counted where they began
    }
  }

  /// An offset and an accessing instruction, whichever instruction was sampled.
  uint32_t placeOf(uint32_t offset, uint32_t width, uint32_t siteIndex, uint32_t visitor) {
    const CodeLocation& site = sites_[siteIndex];
    const uint32_t thread = byThread_ ? visitors_.thread(visitor) : kNone;
    const auto [known, isNew] =
        places_.try_emplace(std::tuple(offset, site.binary, site.plan.codeAddress, thread),
                            static_cast<uint32_t>(accesses_.uses.size()));
    if (isNew) {
      const decode::MemoryOperand& operand = site.plan.operand;
      WordStatistics& use = accesses_.uses.emplace_back();
      use.offset = offset;
      use.width = std::min(std::max(width, 1u), table_.lineSize() - offset);
      use.reads = site.reads();
      use.writes = site.writes();
      use.locked = operand.locked;
      use.code = mix(site.plan.codeAddress, site.binary);
      use.function = functionOf(site);
    } else {
      uint32_t& widest = accesses_.uses[known->second].width;
      widest = std::min(std::max(widest, width), table_.lineSize() - offset);
    }
    return known->second;
  }

  /// Code without a symbol is a function of its own.
  uint64_t functionOf(const CodeLocation& site) {
    const auto [known, isNew] = functions_.try_emplace({site.binary, site.plan.codeAddress}, 0);
    if (isNew) {
      const symbols::ElfImage* image = binaries_.codeImage(site.binary);
      const symbols::Symbol* symbol = image == nullptr ? nullptr : image->functionAt(site.plan.codeAddress);
      known->second = mix(symbol == nullptr ? site.plan.codeAddress : symbol->address, site.binary);
    }
    return known->second;
  }

  uint32_t actorOf(uint32_t use) const {
    return static_cast<uint32_t>(std::lower_bound(uses_.begin(), uses_.end(), use) - uses_.begin());
  }

  uint32_t visitorOf(uint32_t use, uint32_t visitor, JudgedLine& judged) {
    const auto [known, isNew] =
        visitorAt_.try_emplace(visitor, static_cast<uint32_t>(accesses_.visitors.size()));
    if (!isNew) return known->second;
    const uint32_t thread =
        threadAt_.try_emplace(visitors_.thread(visitor), static_cast<uint32_t>(threadAt_.size()))
            .first->second;
    const uint32_t actor = actorOf(use);
    accesses_.actors[actor].thread = isPlaced_[actor] ? LineActor::kNoThread : thread;
    isPlaced_[actor] = true;
    accesses_.visitors.push_back({actor, thread});
    judged.guests.push_back({visitor, false});
    return known->second;
  }

  void mark(uint32_t use, uint32_t siteIndex, const ByteMask& mask) {
    LineActor& actor = accesses_.actors[actorOf(use)];
    const CodeLocation& site = sites_[siteIndex];
    if (site.reads()) actor.read |= mask;
    if (site.writes()) actor.written |= mask;
    if (site.plan.operand.swaps) actor.swaps = true;
  }

  const SharingTable& table_;
  const Visitors& visitors_;
  const Attribution& sites_;
  Binaries& binaries_;
  const SharingTable::Selection& selection_;
  const bool byThread_;
  LineAccesses accesses_;
  std::vector<uint32_t> uses_;
  std::vector<bool> isPlaced_;  ///< by actor: it was seen on some thread
  std::map<std::tuple<uint32_t, uint32_t, uint64_t, uint32_t>, uint32_t> places_;
  std::map<uint32_t, uint32_t> visitorAt_, threadAt_;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> functions_;
};

void countContended(const SharingTable& table, std::vector<JudgedLine>& lines) {
  std::vector<bool> contended(table.lines().size());
  for (JudgedLine& judged : lines) {
    if (!isContended(judged.verdict)) continue;
    contended[judged.line] = true;
    for (uint32_t use = 0; use < judged.waiting->contended.size(); ++use)
      judged.contended += judged.contendedAt(use);
  }
  for (JudgedLine& judged : lines) {
    if (!contended[judged.line]) continue;
    const LineEntry& entry = table.lines()[judged.line];
    const uint32_t neighbour = table.find({entry.space, entry.offset ^ table.lineSize()});
    judged.adjacent = neighbour != kNone && contended[neighbour];
  }
}

}  // namespace

uint64_t JudgedLine::contendedAt(uint32_t placeUse) const {
  return waiting ? static_cast<uint64_t>(std::llround(waiting->contended[placeUse])) : 0;
}

JudgedTable judgeLines(const SharingTable& table, const Visitors& visitors, const Attribution& sites,
                       Binaries& binaries, const JudgeOptions& options) {
  JudgedTable result;
  const std::vector<LineEntry>& lines = table.lines();
  std::vector<bool> wanted(lines.size());
  for (const uint32_t line : options.also) wanted[line] = lines[line].records > 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    wanted[i] = wanted[i] || (lines[i].records > 0 && (options.all || lines[i].uses > 1));
    if (lines[i].records > 0 && !wanted[i]) ++result.singleThreaded;
  }
  result.selection = table.select(wanted);
  LineReader reader(table, visitors, sites, binaries, result.selection, options.byThread);
  for (uint32_t line = 0; line < lines.size(); ++line)
    if (wanted[line]) result.lines.push_back(reader.judge(line));
  countContended(table, result.lines);
  for (const uint32_t line : options.also)
    if (lines[line].records == 0) result.lines.emplace_back().line = line;
  return result;
}

}  // namespace cacheline::analysis
