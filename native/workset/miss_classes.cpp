// What classes of misses the samples show.
#include <algorithm>
#include <set>

#include "workset/workset.h"

namespace cacheline::workset {
namespace {

using analysis::MemoryCounts;
using analysis::Report;

/// Threads and shared caches with a smaller share of the samples do not decide what is not seen.
constexpr double kLeastPart = 0.05;
/// Of the loads, or of the samples on the lines in question: fewer answers from farther away do not make a
/// class likely.
constexpr double kLeastMisses = 0.1;

/// Loads by whether a cache of this level, or a nearer one, had the line. Those that another core's cache
/// answered are sharing, and those that a fill buffer did are not known: both are left out.
struct Answers {
  uint64_t near = 0, far = 0;
  double share() const {
    return near + far == 0 ? 0 : static_cast<double>(far) / static_cast<double>(near + far);
  }
};

Answers answersOf(const MemoryCounts& counts, uint32_t level) {
  const uint64_t remote = counts.remoteHit + counts.localDram + counts.remoteDram;
  Answers answers{counts.l1, remote};
  (level >= 2 ? answers.near : answers.far) += counts.l2;
  (level >= 3 ? answers.near : answers.far) += counts.llc;
  return answers;
}

/// Threads, or shared caches: what has a working set in caches of one level.
struct Scope {
  const WorkingSet* set = nullptr;
  const analysis::DataCache* cache = nullptr;
  const MemoryCounts* counts = nullptr;
  uint32_t tid = 0;  ///< of a thread
};

class Classes {
 public:
  Classes(const Report& report, const Survey& survey) : report_(report), survey_(survey) {}

  std::vector<MissClass> run() {
    if (survey_.all.whole.samples == 0) {
      for (const MissKind kind :
           {MissKind::falseSharing, MissKind::trueSharing, MissKind::conflict, MissKind::capacity})
        add(kind).reason = "there are no samples with an address";
      return std::move(list_);
    }
    addSharing();
    addConflict();
    std::set<uint32_t> levels;
    for (const analysis::DataCache& cache : survey_.caches) levels.insert(cache.level);
    for (const uint32_t level : levels)
      if (level > 1) addFartherConflict(level);
    for (const uint32_t level : levels) addCapacity(level);
    if (!survey_.caches.empty()) return std::move(list_);
    MissClass& capacity = add(MissKind::capacity);
    capacity.reason = kNoCaches;
    return std::move(list_);
  }

 private:
  static constexpr const char* kNoCaches = "the recording does not say what caches the machine has";

  MissClass& add(MissKind kind) {
    MissClass& one = list_.emplace_back();
    one.kind = kind;
    return one;
  }

  void addSharing() {
    double falsely = 0, truly = 0, known = 0;
    for (const analysis::Line& line : report_.lines) {
      if (!line.falseShare || !line.falseShare->value) continue;
      const auto contended = static_cast<double>(line.contended);
      known += contended;
      falsely += contended * *line.falseShare->value;
      truly += contended * (1 - *line.falseShare->value);
    }
    for (const auto& [kind, waits] :
         {std::pair(MissKind::falseSharing, falsely), std::pair(MissKind::trueSharing, truly)}) {
      MissClass& sharing = add(kind);
      if (known == 0 && report_.contended > 0) {
        sharing.reason = "the samples do not say what threads wait for";
      } else {
        sharing.knowledge = waits > 0 ? Knowledge::stated : Knowledge::notSeen;
        sharing.share = waits / static_cast<double>(report_.samples);
      }
    }
  }

  bool counts(uint64_t samples) const {
    return static_cast<double>(samples) >= kLeastPart * static_cast<double>(survey_.all.whole.samples);
  }

  /// In the first-level cache.
  void addConflict() {
    MissClass& conflict = add(MissKind::conflict);
    if (survey_.caches.empty()) {
      conflict.reason = kNoCaches;
      return;
    }
    conflict.level = 1;
    const ThreadSet* worst = nullptr;
    bool isKnown = false, isClear = true;
    std::vector<const ThreadSet*> found;
    for (const ThreadSet& thread : survey_.threads) {
      if (thread.sets.sets == 0) {
        isClear &= !counts(thread.set.whole.samples);
        continue;
      }
      isKnown = true;
      // As of what was sampled often: lines that were not sampled have few accesses.
      if (counts(thread.set.whole.samples)) isClear &= thread.set.fits(thread.sets.sets * thread.sets.ways);
      if (counts(thread.set.whole.samples) && (worst == nullptr || thread.sets.share() > worst->sets.share()))
        worst = &thread;
      if (isConflict(thread.sets) && thread.set.whole.samples >= kFewestSamples) found.push_back(&thread);
    }
    if (worst != nullptr && found.empty()) conflict.sets = worst->sets;
    if (!isKnown) {
      conflict.reason =
          "it needs a first-level cache that the recording describes and whose sets follow from virtual "
          "addresses";
    } else if (found.empty()) {
      conflict.knowledge = isClear ? Knowledge::notSeen : Knowledge::notKnown;
      if (!isClear) conflict.reason = "no set has more hot lines than ways, but many lines have few samples";
    } else {
      std::ranges::stable_sort(found, std::ranges::greater{},
                               [](const ThreadSet* each) { return each->sets.share(); });
      conflict.sets = found.front()->sets;
      conflict.share = conflict.sets->share();
      for (const ThreadSet* each : found) conflict.threads.push_back(each->tid);
      const bool isLikely = static_cast<double>(conflict.sets->misses) >=
                            kLeastMisses * static_cast<double>(conflict.sets->samples);
      conflict.knowledge = report_.splits->memory && isLikely ? Knowledge::likely : Knowledge::possible;
    }
  }

  /// In L2 and L3, whose sets address bits above those of a page choose, which differ between virtual and
  /// physical addresses. A report has lines by virtual ones, also where samples have PERF_SAMPLE_PHYS_ADDR.
  void addFartherConflict(uint32_t level) {
    MissClass& conflict = add(MissKind::conflict);
    conflict.level = level;
    conflict.reason =
        "the set of a line follows from its physical address (page colour), and only virtual ones are known "
        "here";
    if (level > 2) conflict.reason += "; many last-level caches hash it in a way that is not documented";
  }

  /// The largest cache of the level on the CPUs of the thread; null: none is known.
  const analysis::DataCache* cacheOf(const ThreadSet& thread, uint32_t level) const {
    const analysis::DataCache* largest = nullptr;
    for (const analysis::DataCache& cache : survey_.caches) {
      const bool isUsed = thread.cpus.empty() || std::ranges::any_of(cache.cpus, [&](uint32_t cpu) {
                            return std::ranges::binary_search(thread.cpus, cpu);
                          });
      if (cache.level == level && !cache.shared && isUsed &&
          (largest == nullptr || cache.bytes > largest->bytes))
        largest = &cache;
    }
    return largest;
  }

  std::vector<Scope> scopesOf(uint32_t level) const {
    std::vector<Scope> scopes;
    for (const ThreadSet& thread : survey_.threads)
      if (const analysis::DataCache* const cache = cacheOf(thread, level))
        scopes.push_back({&thread.set, cache, &thread.counts, thread.tid});
    for (const SharedSet& shared : survey_.shared)
      if (survey_.caches[shared.cache].level == level && shared.set.whole.samples > 0)
        scopes.push_back({&shared.set, &survey_.caches[shared.cache], &shared.counts, 0});
    return scopes;
  }

  uint64_t linesOf(const analysis::DataCache& cache) const { return cache.bytes / report_.lineSize; }

  void addCapacity(uint32_t level) {
    MissClass& capacity = add(MissKind::capacity);
    capacity.level = level;
    std::vector<Scope> over;
    const Scope* largest = nullptr;
    bool isClear = true;
    const std::vector<Scope> scopes = scopesOf(level);
    for (const Scope& scope : scopes) {
      const auto lines = scope.set->atATime;
      if (lines && *lines > linesOf(*scope.cache)) over.push_back(scope);
      if (lines && (largest == nullptr || *lines > *largest->set->atATime)) largest = &scope;
      if (counts(scope.set->whole.samples)) isClear &= scope.set->fits(linesOf(*scope.cache));
    }
    if (!over.empty()) {
      std::ranges::stable_sort(over, std::ranges::greater{},
                               [](const Scope& each) { return *each.set->atATime; });
      largest = &over.front();
      capacity.knowledge = Knowledge::possible;
      for (const Scope& each : over)
        if (each.tid != 0) capacity.threads.push_back(each.tid);
    } else if (scopes.empty()) {
      capacity.reason = "no sample says on which CPU it was taken";
    } else if (isClear) {
      capacity.knowledge = Knowledge::notSeen;
    } else {
      capacity.reason = "there are too few samples to tell whether the lines fit";
    }
    if (largest != nullptr) {
      capacity.lines = largest->set->atATime;
      capacity.cacheLines = linesOf(*largest->cache);
    }
    if (largest == nullptr || !report_.splits->memory) return;
    const Answers answers = answersOf(*largest->counts, level);
    if (answers.near + answers.far < kFewestSamples) return;
    capacity.share = answers.share();
    if (capacity.knowledge == Knowledge::possible && *capacity.share >= kLeastMisses)
      capacity.knowledge = Knowledge::likely;
  }

  const Report& report_;
  const Survey& survey_;
  std::vector<MissClass> list_;
};

}  // namespace

const char* knowledgeName(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::stated:
      return "stated";
    case Knowledge::likely:
      return "likely";
    case Knowledge::possible:
      return "possible";
    case Knowledge::notSeen:
      return "not seen";
    default:
      return "not known";
  }
}

const char* missKindName(MissKind kind) {
  switch (kind) {
    case MissKind::falseSharing:
      return "false sharing";
    case MissKind::trueSharing:
      return "true sharing";
    case MissKind::conflict:
      return "conflict";
    default:
      return "capacity";
  }
}

std::vector<MissClass> missClassesOf(const Report& report, const Survey& survey) {
  return Classes(report, survey).run();
}

}  // namespace cacheline::workset
