// What differs between the recorded machines: events, data sources, and the odd cases that are made on
// purpose.
#include "scenario.h"

#include <linux/perf_event.h>

#include "base/error.h"

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

// Shares add up to 1000 in each list.
const std::vector<Source> kCalm = {
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
const std::vector<Source> kContended = {
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
const std::vector<Source> kStores = {
    {kStore | kL1 | kTlbHit, 620, 0},          {kStore | kL1 | kTlbHit | kLocked, 80, 0},
    {kStore | kStoreMissed | kTlbHit, 160, 0}, {kStore | kStoreMissed | kTlbMiss | kLocked, 30, 0},
    {kStore | kNoLevel | kTlbHit, 90, 0},      {kStore | kUncached | kTlbHit, 20, 0},
};

/// Memory sampling of one event. `sampleType` beside it: what `perf c2c record` asks for.
perfdata::Event memoryEvent(const std::string& name, uint64_t config, bool callchains,
                            uint64_t weight = PERF_SAMPLE_WEIGHT_STRUCT) {
  perfdata::Event event;
  event.name = name;
  perf_event_attr& attr = event.attr;
  attr.type = PERF_TYPE_RAW;  // known to every perf, whatever the machine that reads; the name says the rest
  attr.size = sizeof attr;
  attr.config = config;
  attr.freq = 1;
  attr.sample_freq = 4000;
  attr.precise_ip = 2;
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_DATA_SRC |
                     PERF_SAMPLE_PHYS_ADDR | weight;
  if (callchains) attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  attr.sample_id_all = attr.inherit = attr.exclude_guest = 1;
  return event;
}

Scenario intel(bool callchains) {
  Scenario s;
  s.cpuDesc = "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz";
  s.cpuId = "GenuineIntel,6,85,4";
  s.events = {memoryEvent("cpu/mem-loads,ldlat=30/P", 0x1cd, callchains),
              memoryEvent("cpu/mem-stores/P", 0x82d0, callchains)};
  s.events[0].attr.config1 = 30;
  s.storeEvent = 1;
  s.contended = kContended;
  s.calm = kCalm;
  s.stores = kStores;
  return s;
}

}  // namespace

Scenario findScenario(const std::string& name, bool callchains) {
  Scenario s;
  if (name == "intel") {
    s = intel(callchains);
  } else {
    throw Error(ErrorKind::usage, "there is no scenario " + name);
  }
  s.name = name;
  perf_event_attr& tracking = s.events[0].attr;
  tracking.mmap = tracking.mmap2 = tracking.mmap_data = tracking.comm = tracking.comm_exec = tracking.task =
      1;
  return s;
}

}  // namespace cacheline::synth
