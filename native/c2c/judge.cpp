// Bytes, runs and samples of a line, put before analysis::judgeLine().
#include "c2c/judge.h"

#include <algorithm>

namespace cacheline::c2c {

namespace {

bool spansOverlap(std::span<const analysis::Run> a, std::span<const analysis::Run> b) {
  return !a.empty() && !b.empty() && a.front().start <= b.back().end && b.front().start <= a.back().end;
}

analysis::ByteMask bytes(uint64_t from, uint32_t width, uint32_t lineSize) {
  analysis::ByteMask mask;
  const uint64_t end = std::min<uint64_t>(from + std::max(width, 1u), lineSize);
  for (uint64_t i = from; i < end; ++i) mask.set(i);
  return mask;
}

bool counts(const LoggedSample& sample, Display display) {
  switch (display) {
    case Display::total:
      return (sample.bits & (LoggedSample::kLocalHitm | LoggedSample::kRemoteHitm)) != 0;
    case Display::local:
      return (sample.bits & LoggedSample::kLocalHitm) != 0;
    case Display::remote:
      return (sample.bits & LoggedSample::kRemoteHitm) != 0;
    case Display::peer:
      return (sample.bits & (LoggedSample::kLocalPeer | LoggedSample::kRemotePeer)) != 0;
  }
  return false;
}

/// The samples that were kept of a line, as uses of its places.
class LoggedUses {
 public:
  LoggedUses(const AccessTable& table, const Line& line, uint32_t lineSize, const std::vector<RowCode>& codes,
             Display display, LineJudgement& judgement)
      : line_(line), lineSize_(lineSize), codes_(codes), display_(display), judgement_(judgement) {
    uint32_t number = 0;
    for (uint32_t index = line.firstRow; index != kNone; index = table.row(index).next)
      numbers_.emplace_back(&table.row(index), number++);
    std::sort(numbers_.begin(), numbers_.end());
    judgement.rows.resize(number);
  }

  void addTo(analysis::LineAccesses& accesses) {
    for (uint32_t ordinal = 0; ordinal < accesses.actors.size(); ++ordinal)
      accesses.visitors.push_back({ordinal, ordinal});
    if (!line_.log) return;
    const EvenSamples &answered = line_.log->answered(), &others = line_.log->others();
    auto a = answered.samples().begin(), b = others.samples().begin();
    while (a != answered.samples().end() || b != others.samples().end()) {
      const bool takesA = b == others.samples().end() || (a != answered.samples().end() && a->order < b->order);
      add(takesA ? *a++ : *b++, (takesA ? answered : others).stride(), accesses);
    }
  }

 private:
  void add(const LoggedSample& sample, uint32_t weight, analysis::LineAccesses& accesses) {
    const auto row = std::lower_bound(numbers_.begin(), numbers_.end(), std::pair(sample.row, uint32_t{0}));
    if (row == numbers_.end() || row->first != sample.row) return;
    const bool store = (sample.bits & LoggedSample::kStore) != 0;
    LineJudgement::RowUses& uses = judgement_.rows[row->second];
    uint32_t& use = store ? uses.stores : uses.loads;
    if (use == kNone) {
      use = static_cast<uint32_t>(accesses.uses.size());
      accesses.uses.push_back(useOf(*sample.row, codes_[row->second], store));
    }
    if ((sample.bits & LoggedSample::kLocked) != 0) accesses.uses[use].writes = true;
    accesses.samples.push_back({use, sample.use, counts(sample, display_), weight});
  }

  analysis::PlaceUse useOf(const Row& row, const RowCode& code, bool store) const {
    analysis::PlaceUse use;
    use.offset = static_cast<uint32_t>(row.offset - line_.offset);
    use.width = std::min(std::max(code.facts.width, 1u), lineSize_ - use.offset);
    use.reads = !store || code.facts.reads;
    use.writes = store || code.facts.writes || code.facts.locked;
    use.code = code.code;
    use.function = code.function;
    return use;
  }

  const Line& line_;
  const uint32_t lineSize_;
  const std::vector<RowCode>& codes_;
  const Display display_;
  LineJudgement& judgement_;
  std::vector<std::pair<const Row*, uint32_t>> numbers_;
};

}  // namespace

LineJudgement judgeLine(const AccessTable& table, const Line& line, uint32_t lineSize,
                        const std::vector<RowCode>& codes, Display display, bool adjacent) {
  LineJudgement result;
  result.line = &line;
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
    const CodeFacts& facts = code->facts;
    const uint64_t offset = row.offset - line.offset;
    const analysis::ByteMask mask = bytes(offset, facts.width, lineSize);
    straddles |= offset + facts.width > lineSize;
    const auto mark = [&](const BitSet& ordinals, bool reads, bool writes) {
      for (const uint32_t ordinal : ordinals.list()) {
        if (reads) accesses.actors[ordinal].read |= mask;
        if (writes) accesses.actors[ordinal].written |= mask;
        if (facts.swaps) accesses.actors[ordinal].swaps = true;
      }
    };
    mark(row.loaders, true, facts.writes);
    mark(row.storers, facts.reads, true);
  }
  LoggedUses(table, line, lineSize, codes, display, result).addTo(accesses);

  const bool modifiedElsewhere = line.shared();
  const bool chance = !line.bare;  // sums over many lines are little by chance
  analysis::JudgeBy by;
  by.written = modifiedElsewhere;
  analysis::LineVerdict verdict = analysis::judgeLine(accesses, by, chance);
  if (verdict.verdict == analysis::Verdict::privateLine && modifiedElsewhere) {
    by.competing = spansOverlap;
    verdict = analysis::judgeLine(accesses, by, chance);
  }

  result.verdict = verdict.verdict;
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
