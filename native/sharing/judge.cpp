// Bytes, runs and samples of a line, put before analysis::judgeLine().
#include "sharing/judge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/lock_uses.h"
#include "sharing/selection.h"

namespace cacheline::sharing {

namespace {

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

/// What is known of who used which places of a line: the samples that were logged, or where only sums of rows
/// were kept, these sums.
class LineReader {
 public:
  LineReader(const AccessTable& table, const Line& line, std::span<const LineRow> rows,
             const JudgePolicy& policy, LineJudgement& judgement)
      : table_(table), line_(line), rows_(rows), policy_(policy), judgement_(judgement) {
    judgement.rows.resize(rows.size());
  }

  analysis::LineAccesses read() {
    addActors();
    findLater();
    for (uint32_t row = 0; row < rows_.size(); ++row) addRow(row);
    if (line_.aggregateOnly) {
      addSums();
      return std::move(accesses_);
    }
    if (line_.log) addLogged();
    addLeastWrites();
    for (uint32_t row = 0; row < rows_.size(); ++row) addCompanions(row);
    return std::move(accesses_);
  }

  std::vector<uint32_t> rowsOfSamples;  ///< of those that were logged, in their order

 private:
  uint32_t lineSize() const { return table_.lineSize(); }
  uint32_t offsetOf(const LineRow& row) const {
    return static_cast<uint32_t>(row.row->offset - line_.offset);
  }
  static uint32_t widthOf(const LineRow& row) { return row.reach != 0 ? row.reach : row.facts->width; }

  void addActors() {
    accesses_.actors.resize(line_.actors);
    isPlaced_.resize(line_.actors);
    const bool moves = std::ranges::any_of(rows_, [](const LineRow& row) { return row.thread != kNone; });
    if (!moves) {
      judgement_.visitors.resize(line_.actors);
      accesses_.visitors.resize(line_.actors);
    }
    for (uint32_t index = line_.firstActor; index != kNone; index = table_.actor(index).next) {
      const ActorStatistics& from = table_.actor(index);
      analysis::LineActor& actor = accesses_.actors[from.ordinal];
      actor.runs = from.runs.runs();
      if (moves) continue;
      actor.thread = from.ordinal;
      judgement_.visitors[from.ordinal] = {from.ordinal, from.actor};
      accesses_.visitors[from.ordinal] = {from.ordinal, from.ordinal};
    }
  }

  void addRow(uint32_t number) {
    const LineRow& from = rows_[number];
    const Row& row = *from.row;
    const CodeFacts& facts = *from.facts;
    const uint32_t offset = offsetOf(from);
    const analysis::ByteMask mask = analysis::bytesFrom(offset, widthOf(from), lineSize());
    judgement_.straddles |= offset + uint64_t{widthOf(from)} > lineSize();
    const auto mark = [&](const BitSet& ordinals, bool reads, bool writes) {
      ordinals.each([&](uint32_t ordinal) {
        analysis::LineActor& actor = accesses_.actors[ordinal];
        if (reads) actor.read |= mask;
        if (writes) actor.written |= mask;
        if (from.thread != kNone) visitorOf(ordinal, from.thread);
      });
    };
    mark(row.loaders, true, facts.writes || writesLater(later_[number]));
    mark(row.storers, facts.reads, true);
    if (policy_.timed) useOf(number, row.loaders.empty());
  }

  /// Of each use, by all of its rows.
  void addLeastWrites() {
    std::vector<double> reads(accesses_.uses.size()), shown(accesses_.uses.size());
    for (uint32_t number = 0; number < rows_.size(); ++number) {
      const uint32_t use = judgement_.rows[number].loads;
      if (use == kNone) continue;
      reads[use] += static_cast<double>(table_.samples(*rows_[number].row));
      shown[use] += static_cast<double>(rows_[number].storesNext);
    }
    for (size_t use = 0; use < reads.size(); ++use)
      if (reads[use] > 0) accesses_.uses[use].leastWrites = std::min(1.0, shown[use] / reads[use]);
  }

  static bool writesLater(analysis::LaterWrite later) {
    return later == analysis::LaterWrite::each || later == analysis::LaterWrite::some;
  }

  /// Of each row. Stores that only make so what was not run again where all of a word are of one kind; of
  /// several kinds the one undoes what the other did.
  void findLater() {
    using analysis::LaterWrite;
    using Ways = decode::LaterWrites::Ways;
    const auto meet = [&](const LineRow& a, const LineRow& b) {
      return offsetOf(a) < offsetOf(b) + std::max(widthOf(b), 1u) &&
             offsetOf(b) < offsetOf(a) + std::max(widthOf(a), 1u);
    };
    for (const LineRow& row : rows_) {
      const decode::LaterWrites& own = row.facts->later;
      LaterWrite& later = later_.emplace_back(LaterWrite::none);
      if (own.ways == Ways::all) later = own.repeats ? LaterWrite::some : LaterWrite::each;
      if (own.ways != Ways::some || row.reach != 0) continue;
      if (row.storesNext > 0) {
        later = LaterWrite::some;
        continue;
      }
      const bool undone = std::ranges::any_of(rows_, [&](const LineRow& other) {
        const auto& settings = other.facts->later.settings;
        return !own.settings.empty() && !settings.empty() && meet(row, other) &&
               (own.settings.size() > 1 || settings != own.settings);
      });
      if (own.mayBeOften || undone) later = LaterWrite::possible;
    }
  }

  /// What the code of a row does to other bytes of the line in the same step.
  void addCompanions(uint32_t number) {
    const LineRow& row = rows_[number];
    if (row.reach != 0) return;
    for (const decode::Companion& each : row.facts->companions) {
      const int64_t at = static_cast<int64_t>(offsetOf(row)) + each.delta;
      if (at < 0 || at >= lineSize()) continue;
      const auto start = static_cast<uint32_t>(at);
      const uint32_t size = std::max(each.width, 1u);
      for (const BitSet* users : {&row.row->loaders, &row.row->storers})
        users->each([&](uint32_t ordinal) {
          accesses_.known.push_back({start, size, ordinal, each.reads, each.writes});
        });
      for (const uint32_t use : {judgement_.rows[number].loads, judgement_.rows[number].stores})
        if (use != kNone) accesses_.steps.push_back({use, start, size});
    }
  }

  void addLogged() {
    using Numbered = std::pair<const Row*, uint32_t>;
    std::vector<Numbered> numbers;
    for (uint32_t row = 0; row < rows_.size(); ++row) numbers.emplace_back(rows_[row].row, row);
    std::sort(numbers.begin(), numbers.end());
    const auto add = [&](const LoggedSample& sample, uint32_t weight) {
      const uint32_t row = std::lower_bound(numbers.begin(), numbers.end(), Numbered(sample.row, 0))->second;
      const LineRow& from = rows_[row];
      const uint32_t use = useOf(row, !sample.source->load);
      if (sample.source->locked != 0) accesses_.uses[use].writes = true;
      const uint32_t visitor = from.thread == kNone ? sample.actor : visitorOf(sample.actor, from.thread);
      const uint32_t cpu = sample.cpu == MemoryAccess::kNoCpu ? analysis::kNoCpu : sample.cpu;
      accesses_.samples.push_back({use, visitor, from.reach == 0 && policy_.waits(*sample.source), weight,
                                   sample.time, cpu, sample.since});
      rowsOfSamples.push_back(row);
    };
    const EvenSamples &answered = line_.log->answered(), &others = line_.log->others();
    auto a = answered.samples().begin(), b = others.samples().begin();
    while (a != answered.samples().end() || b != others.samples().end()) {
      const bool takesA =
          b == others.samples().end() || (a != answered.samples().end() && a->order < b->order);
      add(takesA ? *a++ : *b++, (takesA ? answered : others).stride());
    }
  }

  /// Of each row its loads and its stores are known, and who made some: they are taken to be the actor's in
  /// proportion to what it loads and stores on the line.
  void addSums() {
    constexpr uint64_t kMostSamples = 64;
    std::vector<const ActorStatistics*> actors(line_.actors);
    uint64_t all = 0;
    for (uint32_t index = line_.firstActor; index != kNone; index = table_.actor(index).next) {
      const ActorStatistics& actor = table_.actor(index);
      actors[actor.ordinal] = &actor;
      all += actor.loads + actor.stores;
    }
    const auto stride = static_cast<uint32_t>(all / kMostSamples + 1);
    for (uint32_t number = 0; number < rows_.size(); ++number) {
      const Row& row = *rows_[number].row;
      const AggregateSums sums = table_.aggregateSums(row);
      const uint64_t stores = sums[SumCounter::stores], loads = sums[SumCounter::samples] - stores;
      const uint64_t waiting = std::min<uint64_t>(metricOf(sums, policy_.display), loads);
      const auto share = [&](const BitSet& users, uint32_t ActorStatistics::*of, bool store, bool waits,
                             uint64_t samples) {
        if (samples == 0) return;
        uint64_t whole = 0;
        users.each([&](uint32_t ordinal) { whole += actors[ordinal]->*of; });
        const uint32_t use = useOf(number, store);
        users.each([&](uint32_t ordinal) {
          const uint64_t own = (samples * (actors[ordinal]->*of) + whole / 2) / whole;
          for (uint64_t i = 0; i < (own + stride - 1) / stride; ++i)
            accesses_.samples.push_back({use, ordinal, waits, stride});
        });
      };
      share(row.storers, &ActorStatistics::stores, true, false, stores);
      share(row.loaders, &ActorStatistics::loads, false, true, waiting);
      share(row.loaders, &ActorStatistics::loads, false, false, loads - waiting);
    }
  }

  /// Where time is sampled, an offset and an accessing instruction, in whichever rows; else those of a row.
  uint32_t useOf(uint32_t number, bool store) {
    LineJudgement::RowUses& uses = judgement_.rows[number];
    uint32_t& use = store ? uses.stores : uses.loads;
    if (use != kNone) return use;
    const auto next = static_cast<uint32_t>(accesses_.uses.size());
    const LineRow& row = rows_[number];
    if (policy_.timed) {
      const uint32_t thread = policy_.byThread ? row.thread : kNone;
      const auto [known, isNew] = places_.try_emplace({offsetOf(row), row.code, thread}, next);
      use = known->second;
      if (!isNew) {
        uint32_t& widest = accesses_.uses[use].width;
        widest = std::max(widest, describe(number, store).width);
        return use;
      }
    }
    use = next;
    accesses_.uses.push_back(describe(number, store));
    return use;
  }

  analysis::WordStatistics describe(uint32_t number, bool store) const {
    const LineRow& row = rows_[number];
    analysis::WordStatistics use;
    use.offset = offsetOf(row);
    use.width = std::min(std::max(widthOf(row), 1u), lineSize() - use.offset);
    use.reads = !store || row.facts->reads;
    use.writes = store || row.facts->writes || row.facts->locked;
    if (!use.writes) use.later = later_[number];
    use.writes |= writesLater(use.later);
    use.locked = policy_.timed && row.facts->locked;
    use.code = row.code;
    use.function = row.function;
    use.swaps = row.facts->swaps;
    use.adds = row.facts->adds;
    use.lock = row.facts->lock;
    return use;
  }

  uint32_t visitorOf(uint32_t actor, uint32_t thread) {
    const auto [known, isNew] =
        visitors_.try_emplace({actor, thread}, static_cast<uint32_t>(accesses_.visitors.size()));
    if (!isNew) return known->second;
    const uint32_t number =
        threads_.try_emplace(thread, static_cast<uint32_t>(threads_.size())).first->second;
    accesses_.actors[actor].thread = isPlaced_[actor] ? analysis::LineActor::kNoThread : number;
    isPlaced_[actor] = true;
    accesses_.visitors.push_back({actor, number});
    judgement_.visitors.push_back({actor, thread});
    return known->second;
  }

  const AccessTable& table_;
  const Line& line_;
  const std::span<const LineRow> rows_;
  const JudgePolicy& policy_;
  LineJudgement& judgement_;
  analysis::LineAccesses accesses_;
  std::map<std::tuple<uint32_t, uint64_t, uint32_t>, uint32_t> places_;  ///< where time is sampled: uses
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> visitors_;           ///< by actor and thread
  std::map<uint32_t, uint32_t> threads_;                                 ///< dense numbers
  std::vector<analysis::LaterWrite> later_;                              ///< by row
  std::vector<bool> isPlaced_;  ///< by actor: it was seen on some thread
};

/// What would wait if what may be written later was written each time.
std::optional<analysis::IfWritten> ifWritten(analysis::LineAccesses line, const analysis::JudgeBy& by,
                                             bool chance) {
  using analysis::LaterWrite;
  std::vector<bool> isWritten(line.uses.size());
  for (size_t use = 0; use < line.uses.size(); ++use) {
    if (line.uses[use].later != LaterWrite::possible) continue;
    isWritten[use] = line.uses[use].writes = true;
    line.uses[use].later = LaterWrite::some;
  }
  for (const analysis::PlaceSample& sample : line.samples) {
    if (!isWritten[sample.use]) continue;
    const analysis::WordStatistics& use = line.uses[sample.use];
    line.actors[line.visitors[sample.visitor].actor].written |=
        analysis::bytesFrom(use.offset, use.width, analysis::kMaxLineSize);
  }
  const analysis::LineVerdict verdict = analysis::judgeLine(line, by, chance);
  if (!verdict.waiting) return std::nullopt;
  return analysis::IfWritten{static_cast<uint64_t>(std::llround(verdict.waiting->line.waiting)),
                             verdict.waiting->line.share()};
}

}  // namespace

JudgePolicy policyOf(Display display) {
  return {.waits = [display](const SourceClass& source) { return counts(source, display); },
          .display = display,
          .answers = true};
}

LineJudgement judgeLine(const AccessTable& table, const Line& line, std::span<const LineRow> rows,
                        const JudgePolicy& policy) {
  LineJudgement result;
  LineReader reader(table, line, rows, policy, result);
  analysis::LineAccesses accesses = reader.read();
  const bool chance = !line.aggregateOnly;  // sums over many lines are little by chance
  std::vector<uint32_t> threads;
  for (const analysis::Visitor& visitor : result.visitors) threads.push_back(visitor.thread);
  const analysis::JudgeBy by{.pairs = policy.pairs, .where = policy.where, .threads = threads};
  analysis::LineVerdict verdict = policy.answers && line.shared()
                                      ? analysis::judgeAnswered(accesses, chance, policy.pairs)
                                      : analysis::judgeLine(accesses, by, chance);
  result.verdict = verdict.verdict;
  // Where threads use all alike, some of them were seen to write nothing by chance.
  result.mixedUse = verdict.judgement.mixedUse && verdict.verdict != analysis::Verdict::trueSharing;
  result.leftOut = verdict.judgement.leftOut > 0;
  result.turns = verdict.turns;
  result.tookTurns = std::move(verdict.judgement.turns);
  result.competes = std::move(verdict.judgement.competes);
  result.waiting = std::move(verdict.waiting);
  const std::vector<bool> locks = analysis::lockUses(accesses);
  result.logged.resize(accesses.uses.size());
  for (size_t i = 0; i < accesses.samples.size(); ++i) {
    const analysis::PlaceSample& sample = accesses.samples[i];
    if (!result.competes[accesses.visitors[sample.visitor].actor]) continue;
    result.lock |= locks[sample.use];
    if (!sample.waits) continue;
    result.logged[sample.use] += sample.weight;
    if (verdict.waitedForNobody(i))
      result.unwaited.push_back({reader.rowsOfSamples[i], sample.cpu, sample.weight, sample.time,
                                 verdict.meanwhile[i] == analysis::Meanwhile::onThisCore});
  }
  std::ranges::stable_sort(result.unwaited, {}, &LineJudgement::Unwaited::row);
  if (result.verdict == analysis::Verdict::readShared &&
      std::ranges::any_of(accesses.uses,
                          [](const auto& use) { return use.later == analysis::LaterWrite::possible; }))
    result.ifWritten = ifWritten(accesses, by, chance);
  if (policy.keep) result.accesses = std::move(accesses);
  return result;
}

std::span<const LineJudgement::Unwaited> LineJudgement::unwaitedOf(size_t row) const {
  const auto from = std::ranges::lower_bound(unwaited, row, {}, &Unwaited::row);
  return {from, std::ranges::upper_bound(from, unwaited.end(), row, {}, &Unwaited::row)};
}

void judgeByWatch(const analysis::WatchedLine& watched, LineJudgement& judgement) {
  using analysis::Verdict;
  if (judgement.turns) return;  // and their traps alternate, too
  if (judgement.verdict != Verdict::privateLine && judgement.verdict != Verdict::readShared) return;
  const Verdict seen = analysis::verdictOf(watched.seen, analysis::turnsOf(watched.seen));
  if (judgement.verdict == Verdict::privateLine || analysis::isContended(seen)) judgement.verdict = seen;
}

std::vector<std::string> LineJudgement::flags() const {
  std::vector<std::string> list;
  if (straddles) list.emplace_back("straddling");
  if (adjacent) list.emplace_back("adjacent");
  if (mixedUse) list.emplace_back("mixed-use");
  if (lock) list.emplace_back("lock");
  if (turns) list.emplace_back(turns->oneCore ? "one-core" : "turns");
  return list;
}

analysis::WaitSum waitsOf(const LineJudgement& judgement, uint32_t use, double contended) {
  if (!judgement.waiting || contended <= 0) return {};
  analysis::WaitSum sum = use == kNone ? judgement.waiting->line : judgement.waiting->uses[use];
  if (sum.waiting <= 0) sum = judgement.waiting->line;  // none of the samples that were logged is its
  if (sum.waiting <= 0) return {.waiting = contended, .high = contended};
  const double factor = contended / sum.waiting;
  for (double* part : {&sum.waiting, &sum.known, &sum.falsely, &sum.low, &sum.high}) *part *= factor;
  sum.variance *= factor * factor;
  return sum;
}

std::optional<double> falseShareOf(const LineJudgement& judgement, size_t row) {
  if (!judgement.waiting) return std::nullopt;
  for (const uint32_t use : {judgement.rows[row].loads, judgement.rows[row].stores})
    if (use != kNone && judgement.waiting->shares[use]) return judgement.waiting->shares[use];
  return std::nullopt;
}

}  // namespace cacheline::sharing
