// Samples by line added up for threads, types, sites and caches.
#include "workset/workset.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/hash.h"
#include "profile/line_ids.h"
#include "tables/key_texts.h"
#include "workset/upper_bounds.h"

namespace cacheline::workset {
namespace {

using analysis::kNoSplit;
using analysis::Report;

constexpr uint32_t kBinsOfPart = kBins / kParts;
constexpr uint64_t kPage = 4096;
/// Of the accesses that the sampled lines must have, to be said to be those of most accesses.
constexpr double kMost = 0.9;

/// One thing of which lines are counted. Those with parts have one more for each part, behind it.
using Group = uint32_t;

/// Counts the lines of groups, one line after the other.
class LineCounts {
 public:
  Group make(bool parts) {
    const auto group = static_cast<Group>(groups_.size());
    groups_.resize(groups_.size() + (parts ? 1 + kParts : 1));
    hasParts_.resize(groups_.size());
    hasParts_[group] = parts;
    tallies_.resize(groups_.size());
    return group;
  }

  /// Samples of the line at hand. `bin`: kNoSplit where no time is known.
  void add(Group group, uint32_t bin, uint64_t samples) {
    addTo(group, bin == kNoSplit ? 0 : bin, samples);
    if (hasParts_[group] && bin != kNoSplit) addTo(group + 1 + bin / kBinsOfPart, bin, samples);
  }

  uint64_t samplesOf(Group group) const { return tallies_[group].samples; }  ///< of the line at hand

  void endLine() {
    for (const Group group : touched_) {
      groups_[group].add(tallies_[group]);
      tallies_[group] = {};
    }
    touched_.clear();
  }

  Richness wholeOf(Group group) const { return richnessOf(groups_[group]); }

  WorkingSet setOf(Group group) const {
    WorkingSet set;
    set.whole = wholeOf(group);
    std::vector<uint64_t> least;
    for (uint32_t part = 0; part < kParts; ++part) {
      Richness richness = richnessOf(groups_[group + 1 + part]);
      if (!richness.atLeast) continue;
      least.push_back(*richness.atLeast);
      set.parts.push_back(std::move(richness));
    }
    if (set.whole.throughout) {
      set.atATime = set.whole.atLeast;
    } else if (2 * least.size() > kParts) {
      std::nth_element(least.begin(), least.begin() + (least.size() - 1) / 2, least.end());
      set.atATime = least[(least.size() - 1) / 2];
    }
    return set;
  }

 private:
  void addTo(Group group, uint32_t bin, uint64_t samples) {
    LineTally& tally = tallies_[group];
    if (tally.samples == 0) touched_.push_back(group);
    tally.add(bin, samples);
    groups_[group].bins[bin] += samples;
  }

  std::vector<Frequencies> groups_;
  std::vector<bool> hasParts_;
  std::vector<LineTally> tallies_;  ///< of the line at hand, by group
  std::vector<Group> touched_;
};

class Builder {
 public:
  explicit Builder(const Report& report)
      : report_(report),
        splits_(*report.splits),
        ids_(report),
        typeTexts_(tables::Key::type, report, ids_, false),
        siteTexts_(tables::Key::allocation, report, ids_, false),
        bounds_(report) {
    survey_.caches = analysis::cachesOf(report.metaJson);
  }

  Survey run() {
    begin();
    for (uint32_t i = 0; i < report_.lines.size(); ++i) addLine(i);
    survey_.all = counts_.setOf(all_);
    takeThreads();
    takeData(types_, typeTexts_, survey_.types);
    takeData(sites_, siteTexts_, survey_.sites);
    for (SharedSet& shared : survey_.shared) shared.set = counts_.setOf(sharedGroups_[shared.cache]);
    survey_.classes = missClassesOf(report_, survey_);
    return std::move(survey_);
  }

 private:
  struct Thread {
    Group group = 0;
    ThreadSet set;
    std::vector<UsedLine> lines;
    uint64_t missesHere = 0;  ///< of the line at hand
  };
  struct Data {
    Group group = 0;
    uint32_t text = 0;
    DataBounds bounds;
  };

  void begin() {
    all_ = counts_.make(true);
    for (const analysis::SplitThread& from : splits_.threads) {
      Thread& thread = threads_.emplace_back();
      thread.group = counts_.make(true);
      thread.set.pid = from.pid;
      thread.set.tid = from.tid;
      thread.set.comm = from.comm;
    }
    sharedGroups_.resize(survey_.caches.size());
    for (size_t i = 0; i < survey_.caches.size(); ++i) {
      if (!survey_.caches[i].shared) continue;
      sharedGroups_[i] = counts_.make(true);
      for (const uint32_t cpu : survey_.caches[i].cpus) sharedOf_[cpu].push_back(survey_.shared.size());
      survey_.shared.push_back({i, {}, {}, 0});
    }
    if (splits_.bins)
      survey_.partSeconds = static_cast<double>(splits_.bins->last - splits_.bins->first) / 1e9 / kParts;
  }

  Data& dataOf(std::map<uint32_t, Data>& all, uint32_t text) {
    const auto [found, isNew] = all.try_emplace(text);
    if (isNew) {
      found->second.group = counts_.make(false);
      found->second.text = text;
    }
    return found->second;
  }

  void addLine(uint32_t index) {
    const analysis::Line& line = report_.lines[index];
    std::vector<uint32_t> seen;  // threads
    for (const analysis::Access& access : line.accesses) {
      if (access.splits.empty()) continue;
      Data& type = dataOf(types_, typeTexts_.of(index, access));
      Data& site = dataOf(sites_, siteTexts_.of(index, access));
      bounds_.add(line, access, type.bounds);
      bounds_.add(line, access, site.bounds);
      for (const analysis::AccessSplit& split : access.splits) {
        const auto [thread, cpu, bin] = split.place;
        const uint64_t samples = split.samples;
        counts_.add(all_, bin, samples);
        counts_.add(type.group, bin, samples);
        counts_.add(site.group, bin, samples);
        if (counts_.samplesOf(threads_[thread].group) == 0) seen.push_back(thread);
        counts_.add(threads_[thread].group, bin, samples);
        addTo(threads_[thread], split);
        if (const auto found = sharedOf_.find(cpu); found != sharedOf_.end())
          for (const size_t at : found->second) {
            SharedSet& shared = survey_.shared[at];
            counts_.add(sharedGroups_[shared.cache], bin, samples);
            shared.counts.add(split.counts);
            shared.loads += split.loads;
          }
      }
    }
    for (const uint32_t number : seen) {
      Thread& thread = threads_[number];
      const uint64_t samples = counts_.samplesOf(thread.group);
      thread.lines.push_back({line.address, samples, std::exchange(thread.missesHere, 0)});
    }
    counts_.endLine();
  }

  static void addTo(Thread& thread, const analysis::AccessSplit& split) {
    thread.set.counts.add(split.counts);
    thread.set.loads += split.loads;
    const analysis::MemoryCounts& counts = split.counts;
    const uint64_t sharing = counts.localHitm + counts.remoteHitm + counts.localPeer + counts.remotePeer;
    thread.missesHere += split.misses - std::min(split.misses, sharing);
    auto& cpus = thread.set.cpus;
    if (split.place.cpu == kNoSplit) return;
    const auto at = std::lower_bound(cpus.begin(), cpus.end(), split.place.cpu);
    if (at == cpus.end() || *at != split.place.cpu) cpus.insert(at, split.place.cpu);
  }

  /// The first-level cache of the CPUs of a thread; null where they differ, or it is not known.
  const analysis::DataCache* firstCacheOf(const ThreadSet& thread) const {
    const analysis::DataCache* found = nullptr;
    for (const analysis::DataCache& cache : survey_.caches) {
      const bool isUsed = std::ranges::any_of(
          cache.cpus, [&](uint32_t cpu) { return std::ranges::binary_search(thread.cpus, cpu); });
      if (cache.level != 1 || !isUsed) continue;
      if (found != nullptr && (found->sets() != cache.sets() || found->ways != cache.ways)) return nullptr;
      found = &cache;
    }
    return found;
  }

  void takeThreads() {
    for (Thread& thread : threads_) {
      thread.set.set = counts_.setOf(thread.group);
      if (thread.set.set.whole.samples == 0) continue;
      const analysis::DataCache* const cache = firstCacheOf(thread.set);
      if (cache != nullptr && cache->sets() && *cache->sets() * cache->lineBytes <= kPage)
        thread.set.sets = setUseOf(thread.lines, *cache->sets(), *cache->ways, cache->lineBytes);
      survey_.threads.push_back(std::move(thread.set));
    }
    std::ranges::stable_sort(survey_.threads, std::ranges::greater{},
                             [](const ThreadSet& thread) { return thread.set.whole.samples; });
  }

  void takeData(std::map<uint32_t, Data>& all, const tables::KeyTexts& texts, std::vector<DataSet>& list) {
    for (auto& [text, data] : all) {
      DataSet set{texts.text(text), counts_.wholeOf(data.group), {}, {}, {}};
      bounds_.finish(data.bounds, set);
      list.push_back(std::move(set));
    }
    std::ranges::stable_sort(list, [](const DataSet& a, const DataSet& b) {
      return a.whole.samples != b.whole.samples ? a.whole.samples > b.whole.samples : a.name < b.name;
    });
  }

  const Report& report_;
  const analysis::Splits& splits_;
  const profile::LineIds ids_;
  tables::KeyTexts typeTexts_, siteTexts_;
  UpperBounds bounds_;
  LineCounts counts_;
  Group all_ = 0;
  std::vector<Thread> threads_;                      ///< by number
  std::map<uint32_t, Data> types_, sites_;           ///< by text
  std::vector<Group> sharedGroups_;                  ///< by cache
  HashMap<uint32_t, std::vector<size_t>> sharedOf_;  ///< indices of Survey::shared, by CPU
  Survey survey_;
};

}  // namespace

bool WorkingSet::fits(uint64_t lines) const {
  const auto isIn = [lines](const Richness& set) {
    return set.coverage.value_or(0) >= kMost && set.estimate.value_or(set.lines) <= lines;
  };
  return isIn(whole) || (2 * parts.size() > kParts && std::ranges::all_of(parts, isIn));
}

analysis::SplitBy splitsForSurvey() {
  return {.cpus = true, .bins = kBins};
}

Survey surveyOf(const Report& report) {
  return Builder(report).run();
}

}  // namespace cacheline::workset
