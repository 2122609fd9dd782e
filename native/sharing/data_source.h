// What one memory sample counts as: the PERF_MEM_* data source of <linux/perf_event.h> turned into the
// counters of `perf c2c report`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "analysis/splits.h"
#include "base/hash.h"
#include "sharing/recent_cache.h"

namespace cacheline::sharing {

/// The statistics of `perf c2c report --stats`, in samples. `ldLlc` leaves local HITMs out, as the line table
/// does.
enum class Counter : uint8_t {
  records,
  locked,
  loads,
  ldUncacheable,
  ldIo,
  ldMiss,
  ldNoAddress,
  ldFillBuffer,
  ldL1,
  ldL2,
  ldLlc,
  localHitm,
  remoteHitm,
  remoteHit,
  localPeer,
  remotePeer,
  localDram,
  remoteDram,
  ldExclusive,
  ldShared,
  blockedData,
  blockedAddress,
  stores,
  stUncacheable,
  stNoAddress,
  stL1Hit,
  stL1Miss,
  stNa,
  noMap,
  noParse,
};
inline constexpr size_t kCounters = static_cast<size_t>(Counter::noParse) + 1;

/// Which mean a sample's cycles go into; a load that is several of these counts as the first.
enum class CycleKind : uint8_t { remoteHitm, localHitm, remotePeer, localPeer, load, none };
inline constexpr size_t kCycleKinds = static_cast<size_t>(CycleKind::none);

/// The counters that every row and line has; the others exist for the whole recording only.
enum class RowCounter : uint8_t {
  localHitm,
  remoteHitm,
  localPeer,
  remotePeer,
  fillBuffer,
  l1,
  l2,
  llc,
  remoteHit,
  localDram,
  remoteDram,
  stL1Hit,
  stL1Miss,
  stNa,
  stores,
};
inline constexpr size_t kRowCounters = static_cast<size_t>(RowCounter::stores) + 1;

/// What the sums of objects and types need of a row. The first four may be displayed loads; loads and records
/// are those of known level.
enum class SumCounter : uint8_t {
  localHitm,
  remoteHitm,
  localPeer,
  remotePeer,
  loads,
  records,
  stores,
  samples,
  timed,  ///< loads, of whatever level
};
inline constexpr size_t kSumCounters = static_cast<size_t>(SumCounter::timed) + 1;

/// What a sample of one class adds to each counter.
using Contribution = std::array<uint8_t, kCounters>;

struct SourceClass {
  Contribution counts{};
  CycleKind cycles = CycleKind::none;  ///< none: a store, or a sample that says nothing of them
  bool access = false;                 ///< a load or store with an address: it has a place in a line
  bool load = false, store = false;
  bool answered = false;  ///< by another cache: a HITM or a peer's answer
  bool missed = false;    ///< the first cache: a fill buffer, another cache or memory had the line
  uint8_t locked = 0, blocked = 0;
  uint8_t rowCount = 0;  ///< entries of rowCounters
  uint64_t samples = 0;  ///< see SourceClasses::count()
  /// To be incremented; a local peer hit may stand there twice. The first kUsual always can: what a class
  /// does not need of them is kNoCounter.
  std::array<uint8_t, kRowCounters + 1> rowCounters{kNoCounter, kNoCounter};
  static constexpr size_t kUsual = 2;
  static constexpr uint8_t kNoCounter = kRowCounters;
  std::array<uint8_t, kSumCounters> sums{};
  uint8_t at(Counter counter) const { return counts[static_cast<size_t>(counter)]; }
};

/// `dataSource`: perf_mem_data_src. `hasAddress`: the data address is not 0. `mapped`: code and data lie in
/// known mappings.
SourceClass classify(uint64_t dataSource, bool hasAddress, bool mapped);

/// Counters of rows, with one behind them for what counts nothing.
using RowCounts = std::array<uint32_t, kRowCounters + 1>;

/// One sample. Most classes have one or two counters, in no order that could be foretold: no branch.
inline void count(const SourceClass& source, RowCounts& counts) {
  for (size_t i = 0; i < SourceClass::kUsual; ++i) ++counts[source.rowCounters[i]];
  for (size_t i = SourceClass::kUsual; i < source.rowCount; ++i) ++counts[source.rowCounters[i]];
}

/// Sums of counters.
class Tally {
 public:
  uint64_t operator[](Counter counter) const { return counts_[static_cast<size_t>(counter)]; }
  void add(const SourceClass& source, uint64_t samples) {
    for (size_t i = 0; i < kCounters; ++i) counts_[i] += source.counts[i] * samples;
  }
  void add(const Tally& other) {
    for (size_t i = 0; i < kCounters; ++i) counts_[i] += other.counts_[i];
  }

 private:
  std::array<uint64_t, kCounters> counts_{};
};

/// All that the sums of objects and types need of a row beside who made its accesses.
struct AggregateSums {
  std::array<uint32_t, kSumCounters> counts;
  uint64_t cycles;  ///< of all loads
  uint32_t operator[](SumCounter counter) const { return counts[static_cast<size_t>(counter)]; }
  uint32_t& operator[](SumCounter counter) { return counts[static_cast<size_t>(counter)]; }
  void add(const SourceClass& source, uint64_t itsCycles) {
    for (size_t i = 0; i < kSumCounters; ++i) counts[i] += source.sums[i];
    cycles += source.load ? itsCycles : 0;
  }
  void add(const AggregateSums& other) {
    for (size_t i = 0; i < kSumCounters; ++i) counts[i] += other.counts[i];
    cycles += other.cycles;
  }
};

/// Sums of row counters.
class RowTally {
 public:
  uint64_t operator[](RowCounter counter) const { return counts_[static_cast<size_t>(counter)]; }
  void add(const RowCounts& counts) {
    for (size_t i = 0; i < kRowCounters; ++i) counts_[i] += counts[i];
  }
  void add(const SourceClass& source) {
    for (size_t i = 0; i < source.rowCount; ++i) ++counts_[source.rowCounters[i]];
  }
  void add(const RowTally& other) {
    for (size_t i = 0; i < kRowCounters; ++i) counts_[i] += other.counts_[i];
  }
  RowCounts counts() const {
    RowCounts counts{};
    for (size_t i = 0; i < kRowCounters; ++i) counts[i] = static_cast<uint32_t>(counts_[i]);
    return counts;
  }
  uint64_t hitm() const { return (*this)[RowCounter::localHitm] + (*this)[RowCounter::remoteHitm]; }
  uint64_t peer() const { return (*this)[RowCounter::localPeer] + (*this)[RowCounter::remotePeer]; }
  /// Loads whose level is known.
  uint64_t placedLoads() const;
  /// perf's "Total records" of a line: loads of known level and stores whose level is known or said to be
  /// unknown.
  uint64_t placedRecords() const;
  /// What it tells of them.
  AggregateSums aggregateOnly() const;

 private:
  std::array<uint64_t, kRowCounters> counts_{};
};

/// The same as the report has it.
analysis::MemoryCounts countsOf(const RowTally& tally);

/// The classes met so far: few, whatever the number of data sources.
class SourceClasses {
 public:
  /// The class of a sample, with the sample counted in it. It stays where it is.
  [[gnu::always_inline]] const SourceClass& count(uint64_t dataSource, bool hasAddress, bool mapped) {
    // The data source is looked up while whether it is mapped still is.
    const Variants* known = recent_.find(dataSource, 0);
    if (known == nullptr) [[unlikely]]
      known = &findVariants(dataSource);
    SourceClass& source = *(*known)[(hasAddress ? 1 : 0) | (mapped ? 2 : 0)];
    ++source.samples;
    return source;
  }
  /// What a sample would count as if it had an address, in a known mapping. It counts nothing.
  const SourceClass& withAddress(uint64_t dataSource) {
    const Variants* known = recent_.find(dataSource, 0);
    return *(known != nullptr ? *known : findVariants(dataSource))[3];
  }
  size_t size() const { return classes_.size(); }
  auto begin() const { return classes_.begin(); }
  auto end() const { return classes_.end(); }

 private:
  using Variants = std::array<SourceClass*, 4>;
  const Variants& findVariants(uint64_t dataSource);
  SourceClass& intern(const SourceClass& source);

  RecentCache<Variants> recent_;
  std::deque<SourceClass> classes_;
  HashMap<std::string, uint32_t> index_;
};

}  // namespace cacheline::sharing
