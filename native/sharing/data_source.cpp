// The meaning of data sources. Source: perf_mem_data_src in <linux/perf_event.h>; which level counts as what
// follows the terms of the perf-c2c manual and was compared with `perf c2c report` bit by bit.
#include "sharing/data_source.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <string>

namespace cacheline::sharing {

namespace {

/// In the order of RowCounter.
constexpr std::array<Counter, kRowCounters> kOfRow = {
    Counter::localHitm,  Counter::remoteHitm, Counter::localPeer, Counter::remotePeer, Counter::ldFillBuffer,
    Counter::ldL1,       Counter::ldL2,       Counter::ldLlc,     Counter::remoteHit,  Counter::localDram,
    Counter::remoteDram, Counter::stL1Hit,    Counter::stL1Miss,  Counter::stNa,       Counter::stores};

class Classifier {
 public:
  explicit Classifier(uint64_t dataSource) { source_.val = dataSource; }

  SourceClass run(bool hasAddress, bool mapped) {
    count(Counter::records);
    if ((source_.mem_lock & PERF_MEM_LOCK_LOCKED) != 0) count(Counter::locked);
    if ((source_.mem_blk & PERF_MEM_BLK_DATA) != 0) count(Counter::blockedData);
    if ((source_.mem_blk & PERF_MEM_BLK_ADDR) != 0) count(Counter::blockedAddress);
    result_.load = (source_.mem_op & PERF_MEM_OP_LOAD) != 0;
    result_.store = !result_.load && (source_.mem_op & PERF_MEM_OP_STORE) != 0;
    if (result_.load) {
      count(Counter::loads);
    } else if (result_.store) {
      count(Counter::stores);
    } else {
      count(Counter::noParse);  // "not available" included: no access
      return result_;
    }
    if (!hasAddress) {
      count(result_.load ? Counter::ldNoAddress : Counter::stNoAddress);
      result_.cycles = result_.load ? CycleKind::load : CycleKind::none;
      return result_;
    }
    result_.access = true;
    if (result_.load)
      load();
    else
      store();
    if (!mapped) count(Counter::noMap);
    return result_;
  }

 private:
  void count(Counter counter) { ++result_.counts[static_cast<size_t>(counter)]; }
  bool level(uint64_t bits) const { return (source_.mem_lvl & bits) != 0; }
  bool snoop(uint64_t bits) const { return (source_.mem_snoop & bits) != 0; }
  bool peer() const { return (source_.mem_snoopx & PERF_MEM_SNOOPX_PEER) != 0; }

  void memory(Counter dram) {
    count(dram);
    count(snoop(PERF_MEM_SNOOP_HIT) ? Counter::ldShared : Counter::ldExclusive);
  }

  void load() {
    // Skylake says "remote, level unknown" by this bit alone. PowerPC sets it for another core of the same
    // node too, and then says how many hops away.
    const bool remote = source_.mem_remote != 0 && source_.mem_hops == 0;
    if (level(PERF_MEM_LVL_HIT)) {
      if (level(PERF_MEM_LVL_UNC)) count(Counter::ldUncacheable);
      if (level(PERF_MEM_LVL_IO)) count(Counter::ldIo);
      if (level(PERF_MEM_LVL_LFB)) count(Counter::ldFillBuffer);
      if (level(PERF_MEM_LVL_L1)) count(Counter::ldL1);
      if (level(PERF_MEM_LVL_L2)) {
        count(Counter::ldL2);
        if (peer()) count(Counter::localPeer);
      }
      if (level(PERF_MEM_LVL_L3)) {
        count(snoop(PERF_MEM_SNOOP_HITM) ? Counter::localHitm : Counter::ldLlc);
        if (peer()) count(Counter::localPeer);
      }
      if (level(PERF_MEM_LVL_LOC_RAM)) memory(Counter::localDram);
      if (level(PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2) || remote) memory(Counter::remoteDram);
    }
    if (level(PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2) || remote) {
      if (snoop(PERF_MEM_SNOOP_HIT)) {
        count(Counter::remoteHit);
      } else if (snoop(PERF_MEM_SNOOP_HITM)) {
        count(Counter::remoteHitm);
      } else if (peer()) {
        count(Counter::remoteHit);
        count(Counter::remotePeer);
      }
    }
    if (level(PERF_MEM_LVL_MISS)) count(Counter::ldMiss);

    result_.cycles = CycleKind::load;
    if (result_.at(Counter::remoteHitm) != 0)
      result_.cycles = CycleKind::remoteHitm;
    else if (result_.at(Counter::localHitm) != 0)
      result_.cycles = CycleKind::localHitm;
    else if (result_.at(Counter::remotePeer) != 0)
      result_.cycles = CycleKind::remotePeer;
    else if (result_.at(Counter::localPeer) != 0)
      result_.cycles = CycleKind::localPeer;
  }

  void store() {
    if (level(PERF_MEM_LVL_HIT)) {
      if (level(PERF_MEM_LVL_UNC)) count(Counter::stUncacheable);
      if (level(PERF_MEM_LVL_L1)) count(Counter::stL1Hit);
    }
    if (level(PERF_MEM_LVL_MISS) && level(PERF_MEM_LVL_L1)) count(Counter::stL1Miss);
    if (level(PERF_MEM_LVL_NA)) count(Counter::stNa);
  }

  perf_mem_data_src source_{};
  SourceClass result_;
};

}  // namespace

SourceClass classify(uint64_t dataSource, bool hasAddress, bool mapped) {
  SourceClass source = Classifier(dataSource).run(hasAddress, mapped);
  source.locked = source.at(Counter::locked);
  source.answered = source.at(Counter::localHitm) + source.at(Counter::remoteHitm) +
                        source.at(Counter::localPeer) + source.at(Counter::remotePeer) !=
                    0;
  source.missed =
      std::ranges::any_of(std::array{Counter::ldMiss, Counter::ldFillBuffer, Counter::ldL2, Counter::ldLlc,
                                     Counter::localHitm, Counter::remoteHitm, Counter::remoteHit,
                                     Counter::localDram, Counter::remoteDram, Counter::stL1Miss},
                          [&source](Counter counter) { return source.at(counter) != 0; });
  source.blocked = static_cast<uint8_t>(source.at(Counter::blockedData) + source.at(Counter::blockedAddress));
  for (size_t i = 0; i < kRowCounters; ++i)
    for (uint8_t n = source.at(kOfRow[i]); n > 0; --n)
      source.rowCounters[source.rowCount++] = static_cast<uint8_t>(i);
  RowTally one;
  one.add(source);
  AggregateSums sums = one.aggregateOnly();
  sums[SumCounter::samples] = 1;
  sums[SumCounter::timed] = source.load ? 1 : 0;
  std::transform(sums.counts.begin(), sums.counts.end(), source.sums.begin(),
                 [](uint32_t count) { return static_cast<uint8_t>(count); });
  return source;
}

uint64_t RowTally::placedLoads() const {
  uint64_t sum = 0;
  for (const RowCounter counter :
       {RowCounter::fillBuffer, RowCounter::l1, RowCounter::l2, RowCounter::llc, RowCounter::localHitm,
        RowCounter::remoteHitm, RowCounter::remoteHit, RowCounter::localDram, RowCounter::remoteDram})
    sum += (*this)[counter];
  return sum;
}

uint64_t RowTally::placedRecords() const {
  return placedLoads() + (*this)[RowCounter::stL1Hit] + (*this)[RowCounter::stL1Miss] +
         (*this)[RowCounter::stNa];
}

AggregateSums RowTally::aggregateOnly() const {
  AggregateSums sums{};
  const auto set = [&sums](SumCounter counter, uint64_t count) {
    sums[counter] = static_cast<uint32_t>(count);
  };
  set(SumCounter::localHitm, (*this)[RowCounter::localHitm]);
  set(SumCounter::remoteHitm, (*this)[RowCounter::remoteHitm]);
  set(SumCounter::localPeer, (*this)[RowCounter::localPeer]);
  set(SumCounter::remotePeer, (*this)[RowCounter::remotePeer]);
  set(SumCounter::loads, placedLoads());
  set(SumCounter::records, placedRecords());
  set(SumCounter::stores, (*this)[RowCounter::stores]);
  return sums;
}

analysis::MemoryCounts countsOf(const RowTally& tally) {
  analysis::MemoryCounts counts;
  counts.localHitm = tally[RowCounter::localHitm];
  counts.remoteHitm = tally[RowCounter::remoteHitm];
  counts.localPeer = tally[RowCounter::localPeer];
  counts.remotePeer = tally[RowCounter::remotePeer];
  counts.fillBuffer = tally[RowCounter::fillBuffer];
  counts.l1 = tally[RowCounter::l1];
  counts.l2 = tally[RowCounter::l2];
  counts.llc = tally[RowCounter::llc];
  counts.remoteHit = tally[RowCounter::remoteHit];
  counts.localDram = tally[RowCounter::localDram];
  counts.remoteDram = tally[RowCounter::remoteDram];
  counts.storeL1Hit = tally[RowCounter::stL1Hit];
  counts.storeL1Miss = tally[RowCounter::stL1Miss];
  counts.storeNa = tally[RowCounter::stNa];
  return counts;
}

const SourceClasses::Variants& SourceClasses::findVariants(uint64_t dataSource) {
  Variants variants;
  for (unsigned i = 0; i < variants.size(); ++i)
    variants[i] = &intern(classify(dataSource, (i & 1) != 0, (i & 2) != 0));
  return recent_.add(dataSource, 0, variants);
}

SourceClass& SourceClasses::intern(const SourceClass& source) {
  std::string key(source.counts.begin(), source.counts.end());
  key.push_back(static_cast<char>(source.cycles));
  const auto [it, added] = index_.try_emplace(std::move(key), static_cast<uint32_t>(classes_.size()));
  if (added) classes_.push_back(source);
  return classes_[it->second];
}

}  // namespace cacheline::sharing
