// Data sources: which CPU has which table, and the PERF_MEM_* word of each source and of events alone.
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <set>

#include "spe/data_source.h"

namespace cacheline::spe::testing {
namespace {

perf_mem_data_src word(OperationClass kind, SourceMeaning meaning, int source, uint64_t events = 0) {
  SpeRecord record;
  record.operation.kind = kind;
  record.parts = kPartOperation;
  record.events = events;
  if (source >= 0) {
    record.parts |= kPartDataSource;
    record.dataSource = static_cast<uint64_t>(source);
  }
  perf_mem_data_src result{};
  result.val = dataSourceWord(record, meaning);
  return result;
}

perf_mem_data_src load(SourceMeaning meaning, int source, uint64_t events = 0) {
  return word(OperationClass::load, meaning, source, events);
}

TEST(DataSources, TheModelChoosesTheTable) {
  EXPECT_EQ(sourceMeaning(0x410fd0c0), SourceMeaning::arm) << "Neoverse N1 r0p0";
  EXPECT_EQ(sourceMeaning(0x413fd0c1), SourceMeaning::arm) << "Neoverse N1 r3p1";
  EXPECT_EQ(sourceMeaning(0x411fd401), SourceMeaning::arm) << "Neoverse V1";
  EXPECT_EQ(sourceMeaning(0x410fd490), SourceMeaning::arm) << "Neoverse N2";
  EXPECT_EQ(sourceMeaning(0x410fd4f0), SourceMeaning::arm) << "Neoverse V2";
  EXPECT_EQ(sourceMeaning(0x4e0f0100), SourceMeaning::arm) << "NVIDIA Olympus";
  EXPECT_EQ(sourceMeaning(0xc00fac40), SourceMeaning::ampereOne);
  EXPECT_EQ(sourceMeaning(0x480fd060), SourceMeaning::hisilicon);
  EXPECT_EQ(sourceMeaning(0x410fd0b0), SourceMeaning::events) << "Cortex-A76";
  EXPECT_EQ(sourceMeaning(0x480fd0c0), SourceMeaning::events) << "N1's part number of another maker";
  EXPECT_EQ(sourceMeaning(0), SourceMeaning::events);
}

TEST(DataSources, OfArmsCores) {
  struct Case {
    int source;
    uint64_t level, number, snoop, snoopx, remote;
  };
  const Case cases[] = {
      {kArmL1d, PERF_MEM_LVL_L1 | PERF_MEM_LVL_HIT, PERF_MEM_LVLNUM_L1, PERF_MEM_SNOOP_NONE, 0, 0},
      {kArmL2, PERF_MEM_LVL_L2 | PERF_MEM_LVL_HIT, PERF_MEM_LVLNUM_L2, PERF_MEM_SNOOP_NONE, 0, 0},
      {kArmPeerCore, PERF_MEM_LVL_L2 | PERF_MEM_LVL_HIT, PERF_MEM_LVLNUM_L2, 0, PERF_MEM_SNOOPX_PEER, 0},
      {kArmLocalCluster, PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT, PERF_MEM_LVLNUM_L3, 0, PERF_MEM_SNOOPX_PEER, 0},
      {kArmPeerCluster, PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT, PERF_MEM_LVLNUM_L3, 0, PERF_MEM_SNOOPX_PEER, 0},
      {kArmSystemCache, PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT, PERF_MEM_LVLNUM_L3, PERF_MEM_SNOOP_HIT, 0, 0},
      {kArmRemote, PERF_MEM_LVL_NA, PERF_MEM_LVLNUM_NA, 0, PERF_MEM_SNOOPX_PEER, PERF_MEM_REMOTE_REMOTE},
      {kArmDram, PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_HIT, PERF_MEM_LVLNUM_RAM, PERF_MEM_SNOOP_NONE, 0, 0},
  };
  for (const Case& c : cases) {
    const perf_mem_data_src found = load(SourceMeaning::arm, c.source);
    EXPECT_EQ(found.mem_op, PERF_MEM_OP_LOAD) << c.source;
    EXPECT_EQ(found.mem_lvl, c.level) << c.source;
    EXPECT_EQ(found.mem_lvl_num, c.number) << c.source;
    EXPECT_EQ(found.mem_snoop, c.snoop) << c.source;
    EXPECT_EQ(found.mem_snoopx, c.snoopx) << c.source;
    EXPECT_EQ(found.mem_remote, c.remote) << c.source;
    EXPECT_EQ(found.mem_lock, 0u) << c.source;
    EXPECT_EQ(found.mem_dtlb, 0u) << c.source;
  }
}

TEST(DataSources, StoresOfKnownCpusHaveNone) {
  for (const SourceMeaning meaning :
       {SourceMeaning::arm, SourceMeaning::ampereOne, SourceMeaning::hisilicon}) {
    const perf_mem_data_src found = word(OperationClass::store, meaning, 0, kEventL1dAccess);
    EXPECT_EQ(found.mem_op, PERF_MEM_OP_STORE);
    EXPECT_EQ(found.mem_lvl, PERF_MEM_LVL_NA);
    EXPECT_EQ(found.mem_lvl_num, PERF_MEM_LVLNUM_NA);
    EXPECT_EQ(found.mem_snoop, PERF_MEM_SNOOP_NA);
  }
}

TEST(DataSources, OtherOperationsAreNoAccesses) {
  for (const OperationClass kind : {OperationClass::none, OperationClass::other, OperationClass::branch})
    EXPECT_EQ(word(kind, SourceMeaning::arm, kArmL2, kEventL1dAccess).val, 0u);
}

TEST(DataSources, AbsentOrUnknownOnesAreReadByTheEvents) {
  for (const int source : {-1, 0x3, 0x1234, 0x100 + kArmL2}) {
    const perf_mem_data_src found = load(SourceMeaning::arm, source, kEventL1dAccess | kEventL1dRefill);
    EXPECT_EQ(found.mem_lvl, PERF_MEM_LVL_L1 | PERF_MEM_LVL_MISS) << source;
    EXPECT_EQ(found.mem_lvl_num, PERF_MEM_LVLNUM_L1) << source;
  }
  EXPECT_EQ(load(SourceMeaning::arm, -1).val, PERF_MEM_S(OP, LOAD));
}

TEST(DataSources, TheTranslationIsThatOfTheEvents) {
  EXPECT_EQ(load(SourceMeaning::arm, kArmL2, kEventTlbAccess).mem_dtlb, PERF_MEM_TLB_WK | PERF_MEM_TLB_HIT);
  EXPECT_EQ(load(SourceMeaning::arm, kArmL2, kEventTlbAccess | kEventTlbWalk).mem_dtlb,
            PERF_MEM_TLB_WK | PERF_MEM_TLB_MISS);
  EXPECT_EQ(load(SourceMeaning::events, -1, kEventTlbWalk).mem_dtlb, PERF_MEM_TLB_WK | PERF_MEM_TLB_MISS);
}

TEST(DataSources, EventsAlone) {
  struct Case {
    uint64_t events, level, number;
  };
  constexpr uint64_t kHit = PERF_MEM_LVL_HIT, kMiss = PERF_MEM_LVL_MISS;
  const Case cases[] = {
      {0, 0, 0},
      {kEventL1dAccess, PERF_MEM_LVL_L1 | kHit, PERF_MEM_LVLNUM_L1},
      {kEventL1dAccess | kEventL1dRefill, PERF_MEM_LVL_L1 | kMiss, PERF_MEM_LVLNUM_L1},
      {kEventL1dAccess | kEventLlcAccess, PERF_MEM_LVL_L3 | kHit, PERF_MEM_LVLNUM_L3},
      {kEventL1dAccess | kEventL1dRefill | kEventLlcMiss, PERF_MEM_LVL_L3 | kMiss, PERF_MEM_LVLNUM_L3},
      // CPUs with L2 events: a load's nearest hit, else its farthest miss.
      {kEventL1dAccess | kEventL2dAccess, PERF_MEM_LVL_L1 | kHit, PERF_MEM_LVLNUM_L1},
      {kEventL1dRefill | kEventL2dAccess | kEventLlcAccess, PERF_MEM_LVL_L2 | kHit, PERF_MEM_LVLNUM_L2},
      {kEventL1dRefill | kEventRecentlyFetched, PERF_MEM_LVL_LFB | kHit, PERF_MEM_LVLNUM_LFB},
      {kEventL1dRefill | kEventL2dMiss | kEventLlcAccess, PERF_MEM_LVL_L3 | kHit, PERF_MEM_LVLNUM_L3},
      {kEventL1dRefill | kEventL2dMiss, PERF_MEM_LVL_L2 | kMiss, PERF_MEM_LVLNUM_L2},
      {kEventL1dRefill | kEventL2dMiss | kEventLlcMiss, PERF_MEM_LVL_L3 | kMiss, PERF_MEM_LVLNUM_L3},
  };
  for (const Case& c : cases) {
    const perf_mem_data_src found = load(SourceMeaning::events, kArmPeerCore, c.events);
    EXPECT_EQ(found.mem_lvl, c.level) << std::hex << c.events;
    EXPECT_EQ(found.mem_lvl_num, c.number) << std::hex << c.events;
    EXPECT_EQ(found.mem_snoopx, 0u) << "a data source of no known meaning is not used";
  }
  const uint64_t farthest = kEventL1dAccess | kEventL2dAccess;
  EXPECT_EQ(word(OperationClass::store, SourceMeaning::events, -1, farthest).mem_lvl, PERF_MEM_LVL_L2 | kHit);
  EXPECT_EQ(load(SourceMeaning::events, -1, kEventRemoteAccess).mem_remote, PERF_MEM_REMOTE_REMOTE);
}

TEST(DataSources, SnoopedAndModifiedLines) {
  const uint64_t snooped = kEventL1dRefill | kEventL2dMiss | kEventDataSnooped;
  EXPECT_EQ(load(SourceMeaning::events, -1, snooped).mem_snoop, PERF_MEM_SNOOP_HIT);
  EXPECT_EQ(load(SourceMeaning::events, -1, snooped | kEventDataModified).mem_snoop, PERF_MEM_SNOOP_HITM);
  EXPECT_EQ(load(SourceMeaning::arm, kArmPeerCore, snooped | kEventDataModified).mem_snoop,
            PERF_MEM_SNOOP_HITM);
  EXPECT_EQ(load(SourceMeaning::arm, kArmL2, snooped | kEventDataModified).mem_snoop, PERF_MEM_SNOOP_NONE)
      << "the data source says it";
}

TEST(DataSources, OfAmpereOneAndHisilicon) {
  EXPECT_EQ(load(SourceMeaning::ampereOne, 0x8).mem_lvl_num, PERF_MEM_LVLNUM_L1);
  EXPECT_EQ(load(SourceMeaning::ampereOne, 0x9).mem_lvl_num, PERF_MEM_LVLNUM_L2);
  EXPECT_EQ(load(SourceMeaning::ampereOne, 0x0).mem_snoopx, PERF_MEM_SNOOPX_PEER);
  EXPECT_EQ(load(SourceMeaning::ampereOne, 0x3).mem_snoop, PERF_MEM_SNOOP_HIT);
  EXPECT_EQ(load(SourceMeaning::ampereOne, 0x5).val, load(SourceMeaning::arm, kArmRemote).val);
  EXPECT_EQ(load(SourceMeaning::ampereOne, 0x7).val, load(SourceMeaning::arm, kArmDram).val);
  std::set<int> modified;
  for (int source = 0; source < 32; ++source)
    if (load(SourceMeaning::hisilicon, source).mem_snoop == PERF_MEM_SNOOP_HITM) modified.insert(source);
  EXPECT_EQ(modified, (std::set<int>{1, 3, 5, 7, 17}));
  EXPECT_EQ(load(SourceMeaning::hisilicon, 7).mem_remote, PERF_MEM_REMOTE_REMOTE);
  EXPECT_EQ(load(SourceMeaning::hisilicon, 7).mem_lvl, PERF_MEM_LVL_REM_CCE2);
  EXPECT_EQ(load(SourceMeaning::hisilicon, 9).mem_lvl, PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_HIT);
  EXPECT_EQ(load(SourceMeaning::hisilicon, 18).mem_lvl_num, PERF_MEM_LVLNUM_L1);
}

}  // namespace
}  // namespace cacheline::spe::testing
