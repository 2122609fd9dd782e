// Data sources, one meaning a test. The whole is compared with perf in test/unit/c2c-differential.test.ts.
#include "sharing/data_source.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <map>

namespace cacheline::sharing {
namespace {

using Counts = std::map<Counter, int>;

uint64_t source(uint64_t op, uint64_t level, uint64_t snoop = PERF_MEM_SNOOP_NONE) {
  perf_mem_data_src word{};
  word.mem_op = op & 0x1f;
  word.mem_lvl = level & 0x3fff;
  word.mem_snoop = snoop & 0x1f;
  return word.val;
}

/// All counters that are not 0, `records` left out.
Counts countsOf(uint64_t dataSource, bool hasAddress = true, bool mapped = true) {
  const SourceClass result = classify(dataSource, hasAddress, mapped);
  EXPECT_EQ(result.at(Counter::records), 1);
  Counts counts;
  for (size_t i = 1; i < kCounters; ++i)
    if (result.counts[i] != 0) counts[static_cast<Counter>(i)] = result.counts[i];
  return counts;
}

constexpr uint64_t kLoad = PERF_MEM_OP_LOAD, kStore = PERF_MEM_OP_STORE, kHit = PERF_MEM_LVL_HIT;

TEST(DataSource, LocalHitmIsALastLevelHitInModifiedState) {
  EXPECT_EQ(countsOf(source(kLoad, kHit | PERF_MEM_LVL_L3, PERF_MEM_SNOOP_HITM)),
            (Counts{{Counter::loads, 1}, {Counter::localHitm, 1}}));
  EXPECT_EQ(countsOf(source(kLoad, kHit | PERF_MEM_LVL_L3, PERF_MEM_SNOOP_HIT)),
            (Counts{{Counter::loads, 1}, {Counter::ldLlc, 1}}));
}

TEST(DataSource, RemoteHitmNeedsARemoteCache) {
  for (const uint64_t level : {PERF_MEM_LVL_REM_CCE1, PERF_MEM_LVL_REM_CCE2}) {
    EXPECT_EQ(countsOf(source(kLoad, level | PERF_MEM_LVL_MISS, PERF_MEM_SNOOP_HITM)),
              (Counts{{Counter::loads, 1}, {Counter::remoteHitm, 1}, {Counter::ldMiss, 1}}));
    EXPECT_EQ(countsOf(source(kLoad, level, PERF_MEM_SNOOP_HIT)),
              (Counts{{Counter::loads, 1}, {Counter::remoteHit, 1}}));
  }
}

TEST(DataSource, TheRemoteBitAloneIsRemoteUnlessHopsSayHowFar) {
  perf_mem_data_src word{};
  word.mem_op = kLoad;
  word.mem_remote = 1;
  word.mem_snoop = PERF_MEM_SNOOP_HITM;
  EXPECT_EQ(countsOf(word.val), (Counts{{Counter::loads, 1}, {Counter::remoteHitm, 1}}));
  word.mem_hops = PERF_MEM_HOPS_0;
  EXPECT_EQ(countsOf(word.val), (Counts{{Counter::loads, 1}}));
}

TEST(DataSource, PeersAreLocalInTheOwnCachesAndRemoteBeyond) {
  perf_mem_data_src word{};
  word.mem_op = kLoad;
  word.mem_lvl = kHit | PERF_MEM_LVL_L2;
  word.mem_snoopx = PERF_MEM_SNOOPX_PEER;
  EXPECT_EQ(countsOf(word.val), (Counts{{Counter::loads, 1}, {Counter::ldL2, 1}, {Counter::localPeer, 1}}));
  EXPECT_EQ(classify(word.val, true, true).cycles, CycleKind::localPeer);
  word.mem_lvl = PERF_MEM_LVL_REM_CCE1;
  EXPECT_EQ(countsOf(word.val),
            (Counts{{Counter::loads, 1}, {Counter::remoteHit, 1}, {Counter::remotePeer, 1}}));
}

TEST(DataSource, MemoryIsExclusiveUnlessAnotherCacheHasIt) {
  EXPECT_EQ(countsOf(source(kLoad, kHit | PERF_MEM_LVL_LOC_RAM, PERF_MEM_SNOOP_MISS)),
            (Counts{{Counter::loads, 1}, {Counter::localDram, 1}, {Counter::ldExclusive, 1}}));
  EXPECT_EQ(countsOf(source(kLoad, kHit | PERF_MEM_LVL_REM_RAM1, PERF_MEM_SNOOP_HIT)),
            (Counts{{Counter::loads, 1}, {Counter::remoteDram, 1}, {Counter::ldShared, 1}}));
}

TEST(DataSource, StoresCountByFirstLevelCache) {
  EXPECT_EQ(countsOf(source(kStore, kHit | PERF_MEM_LVL_L1)),
            (Counts{{Counter::stores, 1}, {Counter::stL1Hit, 1}}));
  EXPECT_EQ(countsOf(source(kStore, PERF_MEM_LVL_MISS | PERF_MEM_LVL_L1)),
            (Counts{{Counter::stores, 1}, {Counter::stL1Miss, 1}}));
  EXPECT_EQ(countsOf(source(kStore, PERF_MEM_LVL_NA)), (Counts{{Counter::stores, 1}, {Counter::stNa, 1}}));
}

TEST(DataSource, WhatIsNotAvailableIsNoAccess) {
  EXPECT_EQ(countsOf(source(PERF_MEM_OP_NA, PERF_MEM_LVL_NA)), (Counts{{Counter::noParse, 1}}));
  EXPECT_EQ(countsOf(0), (Counts{{Counter::noParse, 1}}));
  EXPECT_FALSE(classify(0, true, true).access);
}

TEST(DataSource, WithoutAnAddressThereIsNoPlace) {
  const uint64_t load = source(kLoad, kHit | PERF_MEM_LVL_L1);
  EXPECT_EQ(countsOf(load, false), (Counts{{Counter::loads, 1}, {Counter::ldNoAddress, 1}}));
  EXPECT_FALSE(classify(load, false, true).access);
  EXPECT_EQ(countsOf(load, true, false),
            (Counts{{Counter::loads, 1}, {Counter::ldL1, 1}, {Counter::noMap, 1}}));
  EXPECT_TRUE(classify(load, true, false).access);
}

TEST(DataSource, LockedAndBlockedAreCountedBeside) {
  perf_mem_data_src word{};
  word.val = source(kLoad, kHit | PERF_MEM_LVL_L1);
  word.mem_lock = PERF_MEM_LOCK_LOCKED;
  word.mem_blk = PERF_MEM_BLK_DATA | PERF_MEM_BLK_ADDR;
  EXPECT_EQ(countsOf(word.val), (Counts{{Counter::loads, 1},
                                        {Counter::ldL1, 1},
                                        {Counter::locked, 1},
                                        {Counter::blockedData, 1},
                                        {Counter::blockedAddress, 1}}));
}

TEST(SourceClasses, AreAsManyAsMeaningsNotAsWords) {
  SourceClasses classes;
  const uint64_t load = source(kLoad, kHit | PERF_MEM_LVL_L1);
  const SourceClass* first = &classes.count(load, true, true);
  for (uint64_t noise = 0; noise < 5000; ++noise)  // bits that no statistic looks at
    EXPECT_EQ(&classes.count(load | noise << 50, true, true), first);
  EXPECT_NE(&classes.count(load, false, true), first);
  EXPECT_NE(&classes.count(source(kStore, kHit | PERF_MEM_LVL_L1), true, true), first);
}

}  // namespace
}  // namespace cacheline::sharing
