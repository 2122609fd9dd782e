// How accesses go on each kind of machine: data sources as its PMU driver makes them, their shares and
// latencies.
#include "sources.h"

#include <linux/perf_event.h>

namespace cacheline::synth {
namespace {

constexpr uint64_t op(uint64_t value) {
  return value << PERF_MEM_OP_SHIFT;
}
constexpr uint64_t level(uint64_t value, uint64_t number = 0) {
  return value << PERF_MEM_LVL_SHIFT | number << PERF_MEM_LVLNUM_SHIFT;
}
constexpr uint64_t snoop(uint64_t value) {
  return value << PERF_MEM_SNOOP_SHIFT;
}
constexpr uint64_t hops(uint64_t value) {
  return value << PERF_MEM_HOPS_SHIFT;
}

constexpr uint64_t kLoad = op(PERF_MEM_OP_LOAD), kStore = op(PERF_MEM_OP_STORE);
constexpr uint64_t kNumberUncached = 8;  // PERF_MEM_LVLNUM_UNC of Linux 6.6
constexpr uint64_t kHit = PERF_MEM_LVL_HIT;
constexpr uint64_t kRemote = PERF_MEM_S(REMOTE, REMOTE), kLocked = PERF_MEM_S(LOCK, LOCKED);
constexpr uint64_t kPeer = PERF_MEM_S(SNOOPX, PEER);
constexpr uint64_t kBlockedData = PERF_MEM_S(BLK, DATA), kBlockedAddress = PERF_MEM_S(BLK, ADDR);
constexpr uint64_t kTlbHit = PERF_MEM_S(TLB, HIT) | PERF_MEM_S(TLB, L1) | PERF_MEM_S(TLB, L2);
constexpr uint64_t kTlbMiss = PERF_MEM_S(TLB, MISS) | PERF_MEM_S(TLB, L2);

constexpr uint64_t kNone = snoop(PERF_MEM_SNOOP_NONE), kClean = snoop(PERF_MEM_SNOOP_HIT),
                   kMissed = snoop(PERF_MEM_SNOOP_MISS), kModified = snoop(PERF_MEM_SNOOP_HITM),
                   kNoSnoop = snoop(PERF_MEM_SNOOP_NA);
constexpr uint64_t kL1 = level(kHit | PERF_MEM_LVL_L1, PERF_MEM_LVLNUM_L1);
constexpr uint64_t kL2 = level(kHit | PERF_MEM_LVL_L2, PERF_MEM_LVLNUM_L2);
constexpr uint64_t kL3 = level(kHit | PERF_MEM_LVL_L3, PERF_MEM_LVLNUM_L3);
constexpr uint64_t kFillBuffer = level(kHit | PERF_MEM_LVL_LFB, PERF_MEM_LVLNUM_LFB);
constexpr uint64_t kLocalRam = level(kHit | PERF_MEM_LVL_LOC_RAM, PERF_MEM_LVLNUM_RAM);
constexpr uint64_t kRemoteRam = level(kHit | PERF_MEM_LVL_REM_RAM1, PERF_MEM_LVLNUM_RAM) | kRemote;
constexpr uint64_t kRemoteCache = level(kHit | PERF_MEM_LVL_REM_CCE1, PERF_MEM_LVLNUM_ANY_CACHE);
constexpr uint64_t kFarCache = level(kHit | PERF_MEM_LVL_REM_CCE2, PERF_MEM_LVLNUM_ANY_CACHE);
constexpr uint64_t kUncached = level(kHit | PERF_MEM_LVL_UNC, kNumberUncached);
constexpr uint64_t kIo = level(kHit | PERF_MEM_LVL_IO, PERF_MEM_LVLNUM_IO);
constexpr uint64_t kLoadMissed = level(PERF_MEM_LVL_MISS | PERF_MEM_LVL_L3, PERF_MEM_LVLNUM_NA);
constexpr uint64_t kStoreMissed = level(PERF_MEM_LVL_MISS | PERF_MEM_LVL_L1, PERF_MEM_LVLNUM_L1);
constexpr uint64_t kNoLevel = level(PERF_MEM_LVL_NA, PERF_MEM_LVLNUM_NA);

// Where the data came from with hops: how far, in the remote bit's company. Without hops the remote bit alone
// means another node.
constexpr uint64_t kOtherCore = kRemote | hops(PERF_MEM_HOPS_0), kOtherNode = kRemote | hops(PERF_MEM_HOPS_1),
                   kOtherSocket = kRemote | hops(PERF_MEM_HOPS_2);

}  // namespace

const std::vector<Source> kIntelCalm = {
    {kLoad | kL1 | kNone | kTlbHit, 560, 7},
    {kLoad | kL1 | kNone | kTlbHit | kBlockedData, 20, 14},
    {kLoad | kL1 | kNone | kTlbHit | kBlockedAddress, 15, 15},
    {kLoad | kFillBuffer | kNone | kTlbHit, 120, 40},
    {kLoad | kL2 | kNone | kTlbHit, 90, 16},
    {kLoad | kL3 | kNone | kTlbHit, 60, 60},
    {kLoad | kL3 | kClean | kTlbMiss, 30, 75},
    {kLoad | kLocalRam | kMissed | kTlbHit, 25, 240},
    {kLoad | kLocalRam | kClean | kTlbMiss, 15, 260},
    {kLoad | kRemoteRam | kMissed | kTlbMiss, 15, 420},
    {kLoad | level(kHit | PERF_MEM_LVL_REM_RAM2, PERF_MEM_LVLNUM_RAM) | kClean | kTlbMiss, 10, 520},
    {kLoad | kRemoteCache | kClean | kTlbHit, 15, 300},
    {kLoad | kUncached | kNone | kTlbHit, 5, 900},
    {kLoad | kIo | kNone | kTlbHit, 5, 1500},
    {kLoad | kLoadMissed | kNoSnoop | kTlbMiss, 5, 500},
    {kLoad | kNoLevel | kNoSnoop, 10, 3},
};
const std::vector<Source> kIntelContended = {
    {kLoad | kL1 | kNone | kTlbHit, 300, 7},
    {kLoad | kL1 | kNone | kTlbHit | kLocked, 60, 22},
    {kLoad | kL1 | kNone | kTlbHit | kBlockedData | kBlockedAddress, 10, 20},
    {kLoad | kFillBuffer | kNone | kTlbHit, 90, 45},
    {kLoad | kL2 | kNone | kTlbHit, 40, 16},
    {kLoad | kL3 | kNone | kTlbHit, 30, 60},
    {kLoad | kL3 | kClean | kTlbHit, 40, 70},
    {kLoad | kL3 | kModified | kTlbHit, 150, 110},
    {kLoad | kL3 | kModified | kTlbHit | kLocked, 80, 180},
    {kLoad | kRemoteCache | kModified | kTlbHit, 90, 380},
    {kLoad | kRemoteCache | kModified | kTlbMiss | kLocked, 30, 600},
    {kLoad | kFarCache | kModified | kTlbMiss, 10, 800},
    {kLoad | kRemoteRam | kModified | kTlbMiss, 10, 700},  // an unknown remote level: HITM and DRAM at once
    {kLoad | kRemoteCache | kClean | kTlbHit, 20, 290},
    {kLoad | kLocalRam | kMissed | kTlbHit, 20, 240},
    {kLoad | kRemoteRam | kMissed | kTlbHit, 10, 430},
    {kLoad | kLoadMissed | kNoSnoop | kTlbMiss, 10, 500},
};
const std::vector<Source> kIntelStores = {
    {kStore | kL1 | kTlbHit, 620, 0},          {kStore | kL1 | kTlbHit | kLocked, 80, 0},
    {kStore | kStoreMissed | kTlbHit, 160, 0}, {kStore | kStoreMissed | kTlbMiss | kLocked, 30, 0},
    {kStore | kNoLevel | kTlbHit, 90, 0},      {kStore | kUncached | kTlbHit, 20, 0},
};

const std::vector<Source> kAmdCalm = {
    {kLoad | kL1 | kTlbHit, 640, 4},
    {kLoad | kL2 | kTlbHit, 110, 14},
    {kLoad | kFillBuffer | kTlbHit, 60, 60},
    {kLoad | kL3 | kTlbHit, 90, 50},
    {kLoad | kRemoteCache | kOtherCore | kClean | kTlbHit, 20, 140},
    {kLoad | kLocalRam | kTlbHit, 40, 260},
    {kLoad | kRemoteRam | hops(PERF_MEM_HOPS_1) | kTlbMiss, 20, 400},
    {kLoad | kUncached | kTlbHit, 5, 700},
    {kLoad | kIo | kTlbHit, 5, 1200},
    {kLoad | kNoLevel, 10, 0},
};
const std::vector<Source> kAmdContended = {
    {kLoad | kL1 | kTlbHit, 380, 4},
    {kLoad | kL1 | kTlbHit | kLocked, 60, 20},
    {kLoad | kFillBuffer | kTlbHit, 120, 80},
    {kLoad | kL2 | kTlbHit, 60, 14},
    {kLoad | kL3 | kTlbHit, 80, 50},
    {kLoad | kL3 | kModified | kTlbHit, 60, 120},
    {kLoad | kRemoteCache | kOtherCore | kModified | kTlbHit, 120, 170},
    {kLoad | kRemoteCache | kOtherNode | kModified | kTlbMiss | kLocked, 60, 450},
    {kLoad | kRemoteCache | kOtherNode | kClean | kTlbMiss, 30, 380},
    {kLoad | kLocalRam | kTlbHit, 30, 260},
};
const std::vector<Source> kAmdStores = {
    {kStore | kL1 | kTlbHit, 500, 0},
    {kStore | kL1 | kTlbHit | kLocked, 100, 0},
    {kStore | kNoLevel | kTlbHit, 300, 0},
    {kStore | kNoLevel | kTlbMiss | kLocked, 100, 0},
};

const std::vector<Source> kPowerCalm = {
    {kLoad | kL1 | kNone, 620, 3},         {kLoad | kL2 | kNone, 150, 14},
    {kLoad | kL3 | kNone, 120, 30},        {kLoad | kRemoteCache | kOtherCore | kClean, 30, 120},
    {kLoad | kLocalRam | kNone, 40, 300},  {kLoad | kRemoteRam | hops(PERF_MEM_HOPS_2) | kNone, 20, 500},
    {kLoad | kRemoteRam | kNone, 20, 550},
};
const std::vector<Source> kPowerContended = {
    {kLoad | kL1 | kNone, 400, 3},
    {kLoad | kL2 | kNone, 80, 14},
    {kLoad | kL3 | kModified, 90, 90},
    {kLoad | kL3 | kOtherCore | kModified, 60, 110},  // the remote bit of another core of this node
    {kLoad | kRemoteCache | kOtherCore | kModified, 120, 150},
    {kLoad | kRemoteCache | kOtherNode | kModified, 80, 280},
    {kLoad | kFarCache | kOtherSocket | kModified, 50, 480},
    {kLoad | kFarCache | kOtherSocket | kClean, 40, 460},
    {kLoad | level(kHit, PERF_MEM_LVLNUM_L2) | kRemote | kModified, 30, 500},  // remote by the bit alone
    {kLoad | kLocalRam | kNone, 50, 300},
};
const std::vector<Source> kPowerStores = {
    {kStore | kL1, 700, 0},
    {kStore | kStoreMissed, 250, 0},
    {kStore | kNoLevel, 50, 0},
};

// What perf makes of Arm SPE packets: no HITM, but transfers from a peer's cache.
const std::vector<Source> kArmCalm = {
    {kLoad | kL1 | kNone | kTlbHit, 700, 4},
    {kLoad | kL2 | kNone | kTlbHit, 150, 11},
    {kLoad | kL3 | kClean | kTlbHit, 80, 40},
    {kLoad | kLocalRam | kNone | kTlbHit, 40, 200},
    {kLoad | kRemoteRam | kNone | kTlbMiss, 20, 400},
    {kLoad | level(PERF_MEM_LVL_MISS | PERF_MEM_LVL_L3, PERF_MEM_LVLNUM_L3) | kTlbMiss, 10, 300},
};
const std::vector<Source> kArmContended = {
    {kLoad | kL1 | kNone | kTlbHit, 450, 4},
    {kLoad | kL2 | kPeer | kTlbHit, 130, 60},
    {kLoad | kL3 | kPeer | kTlbHit, 130, 90},
    {kLoad | level(PERF_MEM_LVL_REM_CCE1, PERF_MEM_LVLNUM_ANY_CACHE) | kRemote | kPeer | kTlbHit, 150, 350},
    {kLoad | kRemoteCache | kRemote | kPeer | kTlbMiss | kLocked, 40, 500},
    {kLoad | kL3 | kClean | kTlbHit, 60, 40},
    {kLoad | kLocalRam | kNone | kTlbHit, 40, 200},
};
const std::vector<Source> kArmStores = {
    {kStore | kL1 | kTlbHit, 800, 0},
    {kStore | level(PERF_MEM_LVL_MISS | PERF_MEM_LVL_L1, PERF_MEM_LVLNUM_L1) | kTlbHit, 150, 0},
    {kStore | kNoLevel | kTlbMiss, 50, 0},
};

}  // namespace cacheline::synth
