// Bytes, runs and samples of a line, put before analysis::judgeLine().
#include "c2c/judge.h"

#include <algorithm>
#include <utility>

#include "c2c/selection.h"

namespace cacheline::c2c {

namespace {

bool spansOverlap(std::span<const analysis::Run> a, std::span<const analysis::Run> b) {
  return !a.empty() && !b.empty() && a.front().start <= b.back().end && b.front().start <= a.back().end;
}

bool counts(const SourceClass& source, Display display) {
  switch (display) {
    case Display::total:
      return source.at(Counter::localHitm) + source.at(Counter::remoteHitm) != 0;
    case Display::local:
      return source.at(Counter::localHitm) != 0;
    case Display::remote:
      return source.at(Counter::remoteHitm) != 0;
    case Display::peer:
      return source.at(Counter::localPeer) + source.at(Counter::remotePeer) != 0;
  }
  return false;
}

/// What is known of who used which places of a line: the samples that were kept, or where only sums of rows
/// were, these sums.
class WordStatisticsList {
 public:
  WordStatisticsList(const AccessTable& table, const Line& line, uint32_t lineSize,
                     const std::vector<RowCode>& codes, Display display, LineJudgement& judgement)
      : table_(table),
        line_(line),
        lineSize_(lineSize),
        codes_(codes),
        display_(display),
        judgement_(judgement) {
    judgement.rows.resize(codes.size());
  }

  void addTo(analysis::LineAccesses& accesses) {
    for (uint32_t ordinal = 0; ordinal < accesses.actors.size(); ++ordinal)
      accesses.visitors.push_back({ordinal, ordinal});
    if (line_.aggregateOnly) {
      addSums(accesses);
      return;
    }
    if (line_.log) addLogged(accesses);
    addSteps(accesses);
  }

 private:
  using Numbered = std::pair<const Row*, uint32_t>;  ///< in the order of the line's list
  std::vector<Numbered> rows() const {
    std::vector<Numbered> list;
    for (uint32_t index = line_.firstRow; index != kNone; index = table_.row(index).next)
      list.emplace_back(&table_.row(index), static_cast<uint32_t>(list.size()));
    return list;
  }

  void addLogged(analysis::LineAccesses& accesses) {
    std::vector<Numbered> numbers = rows();
    std::sort(numbers.begin(), numbers.end());
    const auto add = [&](const LoggedSample& sample, uint32_t weight) {
      const uint32_t row = std::lower_bound(numbers.begin(), numbers.end(), Numbered(sample.row, 0))->second;
      const uint32_t use = useOf(*sample.row, row, !sample.source->load, accesses);
      if (sample.source->locked != 0) accesses.uses[use].writes = true;
      accesses.samples.push_back({use, sample.use, counts(*sample.source, display_), weight});
    };
    const EvenSamples &answered = line_.log->answered(), &others = line_.log->others();
    auto a = answered.samples().begin(), b = others.samples().begin();
    while (a != answered.samples().end() || b != others.samples().end()) {
      const bool takesA =
          b == others.samples().end() || (a != answered.samples().end() && a->order < b->order);
      add(takesA ? *a++ : *b++, (takesA ? answered : others).stride());
    }
  }

  /// Of each row its loads and its stores are known, and who made some: they are taken to be the thread's in
  /// proportion to what it loads and stores on the line.
  void addSums(analysis::LineAccesses& accesses) {
    constexpr uint64_t kMostSamples = 64;
    std::vector<const Use*> uses(line_.uses);
    uint64_t all = 0;
    for (uint32_t index = line_.firstUse; index != kNone; index = table_.use(index).next) {
      const Use& use = table_.use(index);
      uses[use.ordinal] = &use;
      all += use.loads + use.stores;
    }
    const auto stride = static_cast<uint32_t>(all / kMostSamples + 1);
    for (const Numbered& numbered : rows()) {
      const Row* row = numbered.first;
      const uint32_t number = numbered.second;
      const AggregateSums sums = table_.aggregateSums(*row);
      const uint64_t stores = sums[SumCounter::stores], loads = sums[SumCounter::samples] - stores;
      const uint64_t waiting = std::min<uint64_t>(metricOf(sums, display_), loads);
      const auto share = [&](const BitSet& users, uint32_t Use::*of, bool store, bool waits,
                             uint64_t samples) {
        if (samples == 0) return;
        uint64_t whole = 0;
        users.each([&](uint32_t ordinal) { whole += uses[ordinal]->*of; });
        const uint32_t use = useOf(*row, number, store, accesses);
        users.each([&](uint32_t ordinal) {
          const uint64_t own = (samples * (uses[ordinal]->*of) + whole / 2) / whole;
          for (uint64_t i = 0; i < (own + stride - 1) / stride; ++i)
            accesses.samples.push_back({use, ordinal, waits, stride});
        });
      };
      share(row->storers, &Use::stores, true, false, stores);
      share(row->loaders, &Use::loads, false, true, waiting);
      share(row->loaders, &Use::loads, false, false, loads - waiting);
    }
  }

  void addSteps(analysis::LineAccesses& accesses) const {
    for (const auto& [row, number] : rows()) {
      const auto& [loads, stores] = judgement_.rows[number];
      for (const decode::Companion& each : codes_[number].facts->companions) {
        const int64_t at = static_cast<int64_t>(row->offset - line_.offset) + each.delta;
        if (at < 0 || at >= lineSize_) continue;
        for (const uint32_t use : {loads, stores})
          if (use != kNone)
            accesses.steps.push_back({use, static_cast<uint32_t>(at), std::max(each.width, 1u)});
      }
    }
  }

  uint32_t useOf(const Row& row, uint32_t number, bool store, analysis::LineAccesses& accesses) {
    LineJudgement::RowUses& uses = judgement_.rows[number];
    uint32_t& use = store ? uses.stores : uses.loads;
    if (use != kNone) return use;
    use = static_cast<uint32_t>(accesses.uses.size());
    accesses.uses.push_back(placeOf(row, codes_[number], store));
    return use;
  }

  analysis::WordStatistics placeOf(const Row& row, const RowCode& code, bool store) const {
    analysis::WordStatistics use;
    use.offset = static_cast<uint32_t>(row.offset - line_.offset);
    use.width = std::min(std::max(code.facts->width, 1u), lineSize_ - use.offset);
    use.reads = !store || code.facts->reads;
    use.writes = store || code.facts->writes || code.facts->locked;
    use.code = code.code;
    use.function = code.function;
    return use;
  }

  const AccessTable& table_;
  const Line& line_;
  const uint32_t lineSize_;
  const std::vector<RowCode>& codes_;
  const Display display_;
  LineJudgement& judgement_;
};

}  // namespace

LineJudgement judgeLine(const AccessTable& table, const Line& line, uint32_t lineSize,
                        const std::vector<RowCode>& codes, Display display, bool adjacent) {
  LineJudgement result;
  analysis::LineAccesses accesses;
  accesses.actors.resize(line.uses);
  for (uint32_t index = line.firstUse; index != kNone; index = table.use(index).next) {
    analysis::LineActor& actor = accesses.actors[table.use(index).ordinal];
    actor.runs = table.use(index).runs.runs();
    actor.thread = table.use(index).ordinal;
  }

  bool straddles = false;
  auto code = codes.begin();
  for (uint32_t index = line.firstRow; index != kNone; index = table.row(index).next, ++code) {
    const Row& row = table.row(index);
    const CodeFacts& facts = *code->facts;
    const uint64_t offset = row.offset - line.offset;
    const analysis::ByteMask mask = analysis::bytesFrom(offset, facts.width, lineSize);
    straddles |= offset + facts.width > lineSize;
    const auto mark = [&](const BitSet& ordinals, bool reads, bool writes) {
      ordinals.each([&](uint32_t ordinal) {
        if (reads) accesses.actors[ordinal].read |= mask;
        if (writes) accesses.actors[ordinal].written |= mask;
        if (facts.swaps) accesses.actors[ordinal].swaps = true;
      });
    };
    mark(row.loaders, true, facts.writes);
    mark(row.storers, facts.reads, true);
    if (line.aggregateOnly) continue;
    for (const decode::Companion& each : facts.companions) {
      const int64_t at = static_cast<int64_t>(offset) + each.delta;
      if (at < 0 || at >= lineSize) continue;
      for (const BitSet* users : {&row.loaders, &row.storers})
        users->each([&](uint32_t ordinal) {
          accesses.known.push_back(
              {static_cast<uint32_t>(at), std::max(each.width, 1u), ordinal, each.reads, each.writes});
        });
    }
  }
  WordStatisticsList(table, line, lineSize, codes, display, result).addTo(accesses);

  const bool modifiedElsewhere = line.shared();
  const bool chance = !line.aggregateOnly;  // sums over many lines are little by chance
  analysis::JudgeBy by;
  by.written = modifiedElsewhere;
  analysis::LineVerdict verdict = analysis::judgeLine(accesses, by, chance);
  if (verdict.verdict == analysis::Verdict::privateLine && modifiedElsewhere) {
    by.competing = spansOverlap;
    verdict = analysis::judgeLine(accesses, by, chance);
  }

  result.verdict = verdict.verdict;
  result.leftOut = verdict.judgement.leftOut > 0;
  result.competes = std::move(verdict.judgement.competes);
  result.waiting = std::move(verdict.waiting);
  if (straddles) result.flags.emplace_back("straddling");
  if (adjacent && analysis::isContended(result.verdict)) result.flags.emplace_back("adjacent");
  if (verdict.judgement.mixedUse) result.flags.emplace_back("mixed-use");
  if (verdict.judgement.lock) result.flags.emplace_back("lock");
  return result;
}

analysis::WaitSum waitsOf(const LineJudgement& judgement, size_t row, uint64_t contended) {
  analysis::WaitSum sum;
  if (!judgement.waiting || contended == 0) return sum;
  const uint32_t use = judgement.rows[row].loads;
  sum = use == kNone ? judgement.waiting->line : judgement.waiting->uses[use];
  if (sum.waiting <= 0) sum = judgement.waiting->line;  // none of the samples that were kept is its
  const double waiting = static_cast<double>(contended);
  if (sum.waiting <= 0) return {.waiting = waiting, .high = waiting};
  const double factor = waiting / sum.waiting;
  for (double* part : {&sum.waiting, &sum.known, &sum.falsely, &sum.low, &sum.high}) *part *= factor;
  sum.variance *= factor * factor;
  return sum;
}

std::optional<double> falseShareOf(const LineJudgement& judgement, size_t row) {
  if (!judgement.waiting) return std::nullopt;
  const auto& [loads, stores] = judgement.rows[row];
  for (const uint32_t use : {loads, stores})
    if (use != kNone && judgement.waiting->shares[use]) return judgement.waiting->shares[use];
  return std::nullopt;
}

}  // namespace cacheline::c2c
