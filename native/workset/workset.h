// How much memory threads, types and allocation sites work on, against the caches of the recorded machine;
// and which classes of misses the samples show.
//
// Samples are a few of very many accesses, so nothing is simulated: a line was sampled or it was not, and how
// often. docs/design/workset.md has the statistics and their errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/caches.h"
#include "analysis/report.h"
#include "analysis/splits.h"
#include "workset/cache_sets.h"
#include "workset/richness.h"

namespace cacheline::workset {

/// The time of the samples is cut into so many equal parts, of kBins / kParts bins each.
inline constexpr uint32_t kParts = 5;
/// Threads, types and allocation sites that are listed, those with most samples.
inline constexpr size_t kMostListed = 256;

struct WorkingSet {
  Richness whole;               ///< over all the time
  std::vector<Richness> parts;  ///< of the parts with kFewestSamples at least
  /// Lines that were used in one part of the time, at least: those of all the time where they were used
  /// throughout, else the median of `parts`. Empty: fewer than half of the parts have enough samples.
  std::optional<uint64_t> atATime;
  /// Whether the lines of most accesses fit into so many lines: over all the time, or in each part.
  bool fits(uint64_t lines) const;
};

struct ThreadSet {
  uint32_t pid = 0, tid = 0;
  std::string comm;  ///< empty: not named
  WorkingSet set;
  analysis::MemoryCounts counts;  ///< of memory samples
  uint64_t loads = 0;
  std::vector<uint32_t> cpus;  ///< where it was sampled, ascending
  SetUse sets;                 ///< of the first-level cache
};

/// A type, or an allocation site.
struct DataSet {
  std::string name;  ///< as tables have it
  Richness whole;
  /// Lines that its recorded heap blocks and variables cover, whenever they were there. Empty: not known.
  std::optional<uint64_t> atMost;
  std::optional<uint64_t> peakBytes;  ///< of live heap blocks; empty: likewise
  std::string atMostReason;           ///< one clause: why `atMost` is not known
};

/// One cache that several cores share, with what was used on its CPUs.
struct SharedSet {
  size_t cache = 0;  ///< index of Survey::caches
  WorkingSet set;
  analysis::MemoryCounts counts;
  uint64_t loads = 0;
};

/// What is known of a class of misses. `stated`: the report says it. `notSeen`: the samples speak against it.
enum class Knowledge : uint8_t { stated, likely, possible, notSeen, notKnown };
const char* knowledgeName(Knowledge knowledge);
enum class MissKind : uint8_t { falseSharing, trueSharing, conflict, capacity };
const char* missKindName(MissKind kind);

struct MissClass {
  MissKind kind = MissKind::falseSharing;
  Knowledge knowledge = Knowledge::notKnown;
  std::optional<uint32_t> level;  ///< of the cache; empty: sharing, or there are no samples or no caches
  /// Sharing: of all samples, those that wait so. Conflict: of the worst thread's samples, those on lines of
  /// over-subscribed sets. Capacity: of the loads of memory samples, those that a farther cache or the memory
  /// answered. Empty: not known.
  std::optional<double> share;
  std::vector<uint32_t> threads;  ///< tids, worst first; empty: none, or it is about all of a shared cache
  std::optional<uint64_t> lines;  ///< capacity: the largest working set at a time, at least
  std::optional<uint64_t> cacheLines;  ///< capacity: of the cache that it is compared with
  std::optional<SetUse> sets;          ///< conflict: of the worst thread
  std::string reason;                  ///< one clause: why it is not known
};

struct Survey {
  double partSeconds = 0;
  WorkingSet all;
  std::vector<ThreadSet> threads;           ///< most samples first
  std::vector<DataSet> types, sites;        ///< likewise
  std::vector<analysis::DataCache> caches;  ///< empty: the recording does not say
  std::vector<SharedSet> shared;            ///< of caches that several cores share
  std::vector<MissClass> classes;
};

/// What a report has to tell apart for it, beside all lines.
analysis::SplitBy splitsForSurvey();

/// `report`: with all lines and these splits.
Survey surveyOf(const analysis::Report& report);

/// Sharing, conflict and capacity, from the rest of the survey.
std::vector<MissClass> missClassesOf(const analysis::Report& report, const Survey& survey);

/// The document `cacheline-workset/1` (docs/outputs.md) but for what the command line adds.
std::string surveyJson(const analysis::Report& report, const Survey& survey);

}  // namespace cacheline::workset
