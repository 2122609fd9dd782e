// Causes of waiting, their sums and bounds, and who would gain from moving data apart.
#include "analysis/waiting.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/mean_bounds.h"

namespace cacheline::analysis {

namespace {

/// Stretches of a line's samples of which each is left out once: the jackknife's error of a share. Samples
/// that follow each other are alike, so that single ones would say too little.
constexpr size_t kBlocks = 10;
constexpr double kVictimSamples = 8, kVictimShare = 0.02;

/// Stores retire unseen, so that of few chance decides which ones have samples. Of fewer than the first, and
/// of fewer than the second where they do not agree, what is waited for is not known. A line of one word that
/// anybody uses is waited for because of that word.
constexpr double kFewestWrites = 3, kFewestMixed = 8;
constexpr double kRounding = 1e-9;  ///< samples

/// Samples at one word by one visitor.
struct Count {
  double all = 0, writes = 0;        ///< that others wait for
  double unsure = 0;                 ///< of the writes: there may be fewer
  double possible = 0;               ///< reads that writes may follow
  double readers = 0, changers = 0;  ///< that wait: for writes alone, and for reads, too
};

/// Of one stretch of time, by (word, visitor).
using Counts = std::vector<Count>;

void add(Counts& to, const Counts& from, double factor) {
  for (size_t i = 0; i < to.size(); ++i) {
    to[i].all += factor * from[i].all;
    to[i].writes += factor * from[i].writes;
    to[i].unsure += factor * from[i].unsure;
    to[i].possible += factor * from[i].possible;
    to[i].readers += factor * from[i].readers;
    to[i].changers += factor * from[i].changers;
  }
}

/// What competitors do, by word.
struct Others {
  std::vector<double> all, writes, unsure, possible;
  explicit Others(size_t words) : all(words), writes(words), unsure(words), possible(words) {}
  void add(size_t word, const Count& count, double factor) {
    all[word] += factor * count.all;
    writes[word] += factor * count.writes;
    unsure[word] += factor * count.unsure;
    possible[word] += factor * count.possible;
  }
};

/// False parts of one access's causes.
struct Parts {
  double causes = 0, value = 0, low = 0, high = 0;
};

class Waits {
 public:
  Waits(const LineStatistics& line, bool chance, Waiting& result)
      : line_(line),
        result_(result),
        groups_(line.uses, line.samples, line.visitors, line.known, line.steps),
        words_(groups_.words().size()),
        visitors_(line.visitors.size()),
        blocks_(chance ? kBlocks : 1, Counts(words_ * visitors_)),
        total_(words_ * visitors_),
        waiting_(line.uses.size() * visitors_) {
    findExceptions();
    count();
  }

  void run(bool pairs) {
    result_.words = groups_.words();
    for (uint32_t use = 0; use < line_.uses.size(); ++use) result_.wordOf.push_back(groups_.wordOf(use));
    addUses();
    if (pairs) addPairs();
    // Victims decide between true and mixed; who they are and the causes are asked for with the chance.
    if (blocks_.size() > 1) {
      addChance();
      addCauses();
    } else if (result_.line.falsely > kTrue * result_.line.known) {
      return;
    }
    addVictims();
  }

 private:
  size_t at(size_t word, size_t visitor) const { return word * visitors_ + visitor; }

  /// Most often everybody competes with everybody else: what is kept are the exceptions.
  void findExceptions() {
    for (uint32_t v = 0; v < visitors_; ++v) {
      exceptionsFrom_.push_back(exceptions_.size());
      for (uint32_t w = 0; w < visitors_; ++w) {
        const Visitor &a = line_.visitors[v], &b = line_.visitors[w];
        const bool conflict =
            a.actor != b.actor && a.thread != b.thread && (*line_.compete)[a.actor][b.actor];
        if (!conflict) exceptions_.push_back(w);
      }
    }
    exceptionsFrom_.push_back(exceptions_.size());
  }

  void count() {
    const std::vector<double> alone = alternations();
    const size_t samples = line_.samples.size();
    for (size_t i = 0; i < samples; ++i) {
      const PlaceSample& sample = line_.samples[i];
      const WordStatistics& use = line_.uses[sample.use];
      const uint32_t word = groups_.wordOf(sample.use);
      Count& counts = blocks_[i * blocks_.size() / samples][at(word, sample.visitor)];
      counts.all += sample.weight;
      if (use.writes) counts.writes += sample.weight;
      if (use.later == LaterWrite::some) counts.unsure += sample.weight * (1 - use.leastWrites);
      if (use.later == LaterWrite::possible) counts.possible += sample.weight;
      if (!sample.waits) continue;
      const uint32_t actor = line_.visitors[sample.visitor].actor;
      const double waits = sample.weight * (use.locked && groups_.ownerOf(word) == actor ? alone[actor] : 1);
      (use.waitsForReads() ? counts.changers : counts.readers) += waits;
      waiting_[sample.use * visitors_ + sample.visitor] += waits;
    }
    for (const Counts& block : blocks_) add(total_, block, 1);
    for (size_t use = 0; use < line_.uses.size(); ++use)
      result_.contended.push_back(
          std::accumulate(&waiting_[use * visitors_], &waiting_[use * visitors_] + visitors_, 0.0));
  }

  /// By actor: how often its samples that wait follow those of others, over how often they would if both came
  /// as often and at random; at most 1.
  std::vector<double> alternations() const {
    struct Turns {
      uint64_t samples = 0, runs = 0;
    };
    std::vector<Turns> turns(line_.compete->size());
    uint32_t last = WordGroups::kNobody;
    for (const PlaceSample& sample : line_.samples) {
      if (!sample.waits) continue;
      const uint32_t actor = line_.visitors[sample.visitor].actor;
      ++turns[actor].samples;
      turns[actor].runs += actor != last;
      last = actor;
    }
    std::vector<double> result;
    for (const auto& [samples, runs] : turns)
      result.push_back(
          samples == 0 ? 1 : std::min(1.0, 2.0 * static_cast<double>(runs) / static_cast<double>(samples)));
    return result;
  }

  /// Visits every visitor with what those that it competes with do at each word.
  template <typename Visit>
  void eachVisitor(const Counts& counts, Visit&& visit) const {
    Others all(words_);
    for (size_t word = 0; word < words_; ++word)
      for (size_t visitor = 0; visitor < visitors_; ++visitor) all.add(word, counts[at(word, visitor)], 1);
    Others others = all;
    for (size_t visitor = 0; visitor < visitors_; ++visitor) {
      others = all;
      for (size_t word = 0; word < words_; ++word)
        for (size_t i = exceptionsFrom_[visitor]; i < exceptionsFrom_[visitor + 1]; ++i)
          others.add(word, counts[at(word, exceptions_[i])], -1);
      visit(visitor, others);
    }
  }

  Parts partsOf(size_t word, const std::vector<double>& causes) const {
    Parts parts;
    for (size_t cause = 0; cause < words_; ++cause) {
      if (causes[cause] <= 0) continue;
      const Difference& difference =
          groups_.between(static_cast<uint32_t>(word), static_cast<uint32_t>(cause));
      parts.causes += causes[cause];
      parts.value += causes[cause] * difference.value;
      parts.low += causes[cause] * difference.low;
      parts.high += causes[cause] * difference.high;
    }
    if (parts.causes > 0) {
      parts.value /= parts.causes;
      parts.low /= parts.causes;
      parts.high /= parts.causes;
    }
    return parts;
  }

  /// What reads at a word wait for: writes alone.
  Parts partsOfReads(size_t word, const Others& others) const {
    Parts parts = partsOf(word, others.writes);
    if (words_ == 1) return parts;
    const bool agree = parts.value <= 0 || parts.value >= 1;
    if (parts.causes < (agree ? kFewestWrites : kFewestMixed)) return {};
    widen(word, others, parts);
    return parts;
  }

  /// By how often code writes that was seen to read.
  void widen(size_t word, const Others& others, Parts& parts) const {
    const auto boundOf = [&](double Difference::*part, bool largest) {
      std::vector<UnsureCause> causes;
      for (size_t cause = 0; cause < words_; ++cause) {
        const double writes = others.writes[cause];
        causes.push_back({writes - others.unsure[cause], writes + (largest ? others.possible[cause] : 0),
                          groups_.between(static_cast<uint32_t>(word), static_cast<uint32_t>(cause)).*part});
      }
      return boundOfMean(std::move(causes), largest);
    };
    const auto any = [](const std::vector<double>& list) {
      return std::ranges::any_of(list, [](double count) { return count > 0; });
    };
    const bool isUnsure = any(others.unsure);
    // Where all of them are unsure, it may be that nobody waits for anything.
    bool isSure = false;
    for (size_t cause = 0; cause < words_; ++cause)
      isSure |= others.writes[cause] - others.unsure[cause] > kRounding;
    if (isUnsure) parts.low = isSure ? boundOf(&Difference::low, false) : 0;
    if (isUnsure || any(others.possible)) parts.high = boundOf(&Difference::high, true);
  }

  static void addTo(WaitSum& sum, double waiting, const Parts& parts) {
    sum.waiting += waiting;
    if (parts.causes <= 0) {
      sum.high += waiting;
      return;
    }
    sum.known += waiting;
    sum.falsely += waiting * parts.value;
    sum.low += waiting * parts.low;
    sum.high += waiting * parts.high;
  }

  void addUses() {
    const size_t uses = line_.uses.size();
    result_.uses.resize(uses);
    result_.shares.resize(uses);
    parts_.resize(uses * visitors_);
    std::vector<double> samples(uses * visitors_);
    for (const PlaceSample& sample : line_.samples)
      samples[sample.use * visitors_ + sample.visitor] += sample.weight;
    std::vector<std::pair<double, double>> shares(uses);  // of samples, whether they wait or not
    std::vector<Parts> ofReaders(words_), ofChangers(words_);
    eachVisitor(total_, [&](size_t visitor, const Others& others) {
      for (size_t word = 0; word < words_; ++word) {
        ofReaders[word] = partsOfReads(word, others);
        ofChangers[word] = partsOf(word, others.all);
      }
      for (size_t use = 0; use < uses; ++use) {
        const size_t place = use * visitors_ + visitor;
        if (samples[place] <= 0) continue;
        const WordStatistics& by = line_.uses[use];
        const Parts& parts =
            (by.waitsForReads() ? ofChangers : ofReaders)[groups_.wordOf(static_cast<uint32_t>(use))];
        parts_[place] = parts;
        addTo(result_.uses[use], waiting_[place], parts);
        addTo(result_.line, waiting_[place], parts);
        if (parts.causes <= 0) continue;
        shares[use].first += samples[place];
        shares[use].second += samples[place] * parts.value;
      }
    });
    for (size_t use = 0; use < uses; ++use)
      if (shares[use].first > 0) result_.shares[use] = shares[use].second / shares[use].first;
  }

  void addPairs() {
    UsePairs& pairs = result_.pairs.emplace();
    for (uint32_t use = 0; use < line_.uses.size(); ++use) {
      const WordStatistics& from = line_.uses[use];
      pairs.uses.push_back({groups_.wordOf(use), from.writes, from.waitsForReads(), use});
    }
    std::map<std::pair<uint32_t, uint32_t>, double> samples;  // by use and visitor
    for (const PlaceSample& sample : line_.samples) samples[{sample.use, sample.visitor}] += sample.weight;
    for (const auto& [place, count] : samples)
      pairs.places.push_back(
          {place.first, place.second, count, waiting_[place.first * visitors_ + place.second]});
    pairs.compete.assign(visitors_, std::vector<bool>(visitors_, true));
    for (size_t visitor = 0; visitor < visitors_; ++visitor)
      for (size_t i = exceptionsFrom_[visitor]; i < exceptionsFrom_[visitor + 1]; ++i)
        pairs.compete[visitor][exceptions_[i]] = false;
    pairs.falsely.assign(words_, std::vector<double>(words_));
    for (uint32_t word = 0; word < words_; ++word)
      for (uint32_t cause = 0; cause < words_; ++cause)
        pairs.falsely[word][cause] = groups_.between(word, cause).value;
  }

  /// False part of the known waiting.
  double falsely(const Counts& counts) const {
    double known = 0, sum = 0;
    eachVisitor(counts, [&](size_t visitor, const Others& others) {
      for (size_t word = 0; word < words_; ++word) {
        const Count& here = counts[at(word, visitor)];
        for (const auto& [waiting, reads] : {std::pair(here.readers, true), {here.changers, false}}) {
          if (waiting <= 0) continue;
          const Parts parts = reads ? partsOfReads(word, others) : partsOf(word, others.all);
          if (parts.causes <= 0) continue;
          known += waiting;
          sum += waiting * parts.value;
        }
      }
    });
    return known > 0 ? sum / known : 0;
  }

  void addChance() {
    std::array<double, kBlocks> without{};
    double mean = 0;
    for (size_t i = 0; i < kBlocks; ++i) {
      Counts rest = total_;
      add(rest, blocks_[i], -1);
      mean += without[i] = falsely(rest);
    }
    mean /= kBlocks;
    double squares = 0;
    for (const double value : without) squares += (value - mean) * (value - mean);
    const double deviation = std::sqrt(squares * (kBlocks - 1) / kBlocks) * result_.line.waiting;
    result_.line.variance = deviation * deviation;
    for (WaitSum& use : result_.uses) {
      const double part = result_.line.waiting > 0 ? use.waiting / result_.line.waiting : 0;
      use.variance = result_.line.variance * part * part;
    }
  }

  void addCauses() {
    std::vector<WaitCause> table(words_ * words_);
    double known = 0;
    eachVisitor(total_, [&](size_t visitor, const Others& others) {
      for (size_t word = 0; word < words_; ++word) {
        for (const auto& [waiting, causes] : {std::pair(total_[at(word, visitor)].readers, &others.writes),
                                              std::pair(total_[at(word, visitor)].changers, &others.all)}) {
          double sum = 0;
          for (const double cause : *causes) sum += cause;
          if (waiting <= 0 || sum <= 0) continue;
          known += waiting;
          for (size_t cause = 0; cause < words_; ++cause)
            table[word * words_ + cause].share += waiting * (*causes)[cause] / sum;
        }
      }
    });
    const std::vector<double> sameStep = sameSteps();
    for (uint32_t word = 0; word < words_; ++word) {
      for (uint32_t cause = 0; cause < words_; ++cause) {
        WaitCause entry = table[word * words_ + cause];
        if (entry.share <= 0) continue;
        entry = {word, cause, entry.share / known, groups_.between(word, cause).value,
                 sameStep[word * words_ + cause]};
        result_.causes.push_back(entry);
      }
    }
    std::stable_sort(result_.causes.begin(), result_.causes.end(),
                     [](const WaitCause& a, const WaitCause& b) { return a.share > b.share; });
  }

  /// By word and another one: of the waiting at the word, the part by code that accesses the other one, too.
  /// Of a function of which that is most, it is all: a step may be longer than a basic block. By thread: into
  /// one function much may be inlined, of which others run other parts.
  std::vector<double> sameSteps() const {
    struct OfFunction {
      double all = 0;
      std::vector<double> together;  ///< by the other word
    };
    std::map<std::tuple<uint32_t, uint64_t, uint32_t>, OfFunction> functions;  // by word, function, visitor
    std::vector<double> all(words_), together(words_ * words_);
    std::vector<bool> counted(line_.uses.size() * words_);
    const auto eachWaiting = [&](uint32_t use, auto&& visit) {
      for (uint32_t visitor = 0; visitor < visitors_; ++visitor)
        if (const double each = waiting_[use * visitors_ + visitor]; each > 0)
          visit(functions[{groups_.wordOf(use), line_.uses[use].function, visitor}], each);
    };
    for (uint32_t use = 0; use < line_.uses.size(); ++use)
      eachWaiting(use, [&](OfFunction& function, double each) {
        function.all += each;
        function.together.resize(words_);
        all[groups_.wordOf(use)] += each;
      });
    for (const StepUse& step : line_.steps) {
      for (uint32_t word = 0; word < words_; ++word) {
        const LineWord& at = groups_.words()[word];
        const bool meets = step.offset < at.offset + at.size && at.offset < step.offset + step.width;
        if (word == groups_.wordOf(step.use) || !meets || counted[step.use * words_ + word]) continue;
        counted[step.use * words_ + word] = true;
        eachWaiting(step.use, [&](OfFunction& function, double each) { function.together[word] += each; });
      }
    }
    for (const auto& [key, function] : functions)
      for (size_t word = 0; word < words_; ++word)
        together[std::get<0>(key) * words_ + word] +=
            2 * function.together[word] > function.all ? function.all : function.together[word];
    for (size_t i = 0; i < together.size(); ++i)
      if (together[i] > 0) together[i] = std::min(1.0, together[i] / all[i / words_]);
    return together;
  }

  struct Candidate {
    std::vector<std::pair<uint32_t, uint32_t>> places;  ///< use, visitor
    double waiting = 0, falsely = 0;
  };

  /// All that run one function are told first, and single actors only where they add something.
  void addVictims() {
    const double least = std::max(kVictimSamples, kVictimShare * result_.line.waiting);
    std::map<std::pair<uint32_t, uint64_t>, Candidate> byFunction, byActor;  // group, and which
    for (uint32_t use = 0; use < line_.uses.size(); ++use) {
      for (uint32_t visitor = 0; visitor < visitors_; ++visitor) {
        const size_t place = use * visitors_ + visitor;
        if (waiting_[place] <= 0 || parts_[place].causes <= 0) continue;
        const uint32_t group = groups_.words()[groups_.wordOf(use)].group;
        for (Candidate* candidate : {&byFunction[{group, line_.uses[use].function}],
                                     &byActor[{group, line_.visitors[visitor].actor}]}) {
          candidate->places.emplace_back(use, visitor);
          candidate->waiting += waiting_[place];
          candidate->falsely += waiting_[place] * parts_[place].value;
        }
      }
    }
    std::vector<bool> told(line_.uses.size() * visitors_);
    for (const auto* candidates : {&byFunction, &byActor}) {
      for (const auto& [key, candidate] : *candidates) {
        if (candidate.waiting < least || candidate.falsely < kFalse * candidate.waiting) continue;
        bool isNew = false;
        for (const auto& [use, visitor] : candidate.places) {
          isNew |= !told[use * visitors_ + visitor];
          told[use * visitors_ + visitor] = true;
        }
        if (isNew) result_.victims.push_back(victimOf(candidate));
      }
    }
    std::stable_sort(result_.victims.begin(), result_.victims.end(),
                     [](const WaitVictim& a, const WaitVictim& b) { return a.waiting > b.waiting; });
  }

  template <typename T>
  static void addOnce(std::vector<T>& list, T value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
  }

  WaitVictim victimOf(const Candidate& candidate) const {
    WaitVictim victim;
    victim.waiting = candidate.waiting;
    victim.falseShare = candidate.falsely / candidate.waiting;
    std::vector<double> waiting(line_.uses.size()), causes(line_.uses.size());
    for (const auto& [use, visitor] : candidate.places) {
      const size_t place = use * visitors_ + visitor;
      addOnce(victim.words, groups_.wordOf(use));
      addOnce(victim.visitors, visitor);
      waiting[use] += waiting_[place] * parts_[place].value;
    }
    std::sort(victim.words.begin(), victim.words.end());
    std::sort(victim.visitors.begin(), victim.visitors.end());
    const auto most = [](const std::vector<double>& list) {
      return static_cast<uint32_t>(std::max_element(list.begin(), list.end()) - list.begin());
    };
    victim.use = most(waiting);
    const bool changes = line_.uses[victim.use].waitsForReads();
    for (const PlaceSample& sample : line_.samples) {
      const bool isOwn = victim.visitors.size() == 1 && victim.visitors.front() == sample.visitor;
      if (isOwn || !(changes || line_.uses[sample.use].writes)) continue;
      causes[sample.use] +=
          sample.weight * groups_.between(groups_.wordOf(victim.use), groups_.wordOf(sample.use)).value;
    }
    victim.cause = most(causes);
    return victim;
  }

  const LineStatistics& line_;
  Waiting& result_;
  WordGroups groups_;
  size_t words_, visitors_;
  std::vector<uint32_t> exceptions_;    ///< visitors that do not compete, by visitor
  std::vector<size_t> exceptionsFrom_;  ///< by visitor, and one behind the last
  std::vector<Counts> blocks_;
  Counts total_;
  std::vector<double> waiting_;  ///< samples, by (use, visitor)
  std::vector<Parts> parts_;     ///< the same
};

}  // namespace

Waiting waitingOf(const LineStatistics& line, bool chance, bool pairs) {
  Waiting result;
  Waits(line, chance, result).run(pairs);
  return result;
}

Verdict verdictOf(const FalseShare& share, bool victims) {
  if (!share.value) return Verdict::mixed;
  if (*share.value >= kFalse) return Verdict::falseSharing;
  return *share.value <= kTrue && !victims ? Verdict::trueSharing : Verdict::mixed;
}

}  // namespace cacheline::analysis
