// Tables of data sources by CPU model, and the meaning of cache events.
#include "spe/data_source.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <span>

namespace cacheline::spe {
namespace {

struct Cpu {
  uint8_t implementer;
  uint16_t part;
  SourceMeaning meaning;
};

constexpr uint8_t kArm = 0x41, kHisilicon = 0x48, kNvidia = 0x4e, kAmpere = 0xc0;

constexpr Cpu kCpus[] = {
    {kArm, 0xd0c, SourceMeaning::arm},              // Neoverse N1
    {kArm, 0xd40, SourceMeaning::arm},              // Neoverse V1
    {kArm, 0xd44, SourceMeaning::arm},              // Cortex-X1
    {kArm, 0xd49, SourceMeaning::arm},              // Neoverse N2
    {kArm, 0xd4b, SourceMeaning::arm},              // Cortex-A78C
    {kArm, 0xd4c, SourceMeaning::arm},              // Cortex-X1C
    {kArm, 0xd4d, SourceMeaning::arm},              // Cortex-A715
    {kArm, 0xd4e, SourceMeaning::arm},              // Cortex-X3
    {kArm, 0xd4f, SourceMeaning::arm},              // Neoverse V2
    {kArm, 0xd81, SourceMeaning::arm},              // Cortex-A720
    {kArm, 0xd82, SourceMeaning::arm},              // Cortex-X4
    {kArm, 0xd84, SourceMeaning::arm},              // Neoverse V3
    {kArm, 0xd85, SourceMeaning::arm},              // Cortex-X925
    {kArm, 0xd87, SourceMeaning::arm},              // Cortex-A725
    {kArm, 0xd89, SourceMeaning::arm},              // Cortex-A720AE
    {kNvidia, 0x010, SourceMeaning::arm},           // Olympus
    {kAmpere, 0xac4, SourceMeaning::ampereOne},     // AmpereOne A
    {kHisilicon, 0xd06, SourceMeaning::hisilicon},  // HIP12
};

constexpr uint64_t kHit = PERF_MEM_S(LVL, HIT), kMiss = PERF_MEM_S(LVL, MISS);
constexpr uint64_t kL1 = PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVLNUM, L1);
constexpr uint64_t kL2 = PERF_MEM_S(LVL, L2) | PERF_MEM_S(LVLNUM, L2);
constexpr uint64_t kL3 = PERF_MEM_S(LVL, L3) | PERF_MEM_S(LVLNUM, L3);
constexpr uint64_t kFillBuffer = PERF_MEM_S(LVL, LFB) | PERF_MEM_S(LVLNUM, LFB);
constexpr uint64_t kNoSnoop = PERF_MEM_S(SNOOP, NONE), kSnoopHit = PERF_MEM_S(SNOOP, HIT),
                   kModified = PERF_MEM_S(SNOOP, HITM), kPeer = PERF_MEM_S(SNOOPX, PEER);
constexpr uint64_t kLocalMemory = PERF_MEM_S(LVL, LOC_RAM) | PERF_MEM_S(LVLNUM, RAM) | kHit | kNoSnoop;
constexpr uint64_t kRemote = PERF_MEM_S(REMOTE, REMOTE);
constexpr uint64_t kStore = PERF_MEM_S(LVL, NA) | PERF_MEM_S(LVLNUM, NA) | PERF_MEM_S(SNOOP, NA);

/// A data source of a load and its PERF_MEM_* bits.
struct Source {
  uint8_t code;
  uint64_t bits;
};

constexpr uint64_t kArmRemoteBits = PERF_MEM_S(LVL, NA) | PERF_MEM_S(LVLNUM, NA) | kRemote | kPeer;

// Whether a line of another core or socket came out of its L1 or L2 is not known; that it was a transfer
// between caches is.
constexpr Source kArmSources[] = {
    {kArmL1d, kL1 | kHit | kNoSnoop},      {kArmL2, kL2 | kHit | kNoSnoop},
    {kArmPeerCore, kL2 | kHit | kPeer},    {kArmLocalCluster, kL3 | kHit | kPeer},
    {kArmPeerCluster, kL3 | kHit | kPeer}, {kArmSystemCache, kL3 | kHit | kSnoopHit},
    {kArmRemote, kArmRemoteBits},          {kArmDram, kLocalMemory},
};

constexpr Source kAmpereSources[] = {
    {0x0, kL2 | kHit | kPeer},      // another cache of the chip, or a device
    {0x3, kL3 | kHit | kSnoopHit},  // system level cache
    {0x5, kArmRemoteBits},          // a cache of another chip
    {0x7, kLocalMemory},            // DDR
    {0x8, kL1 | kHit | kNoSnoop},   // L1D
    {0x9, kL2 | kHit | kNoSnoop},   // L2D
};

constexpr uint64_t kHisiPeerCluster = PERF_MEM_S(LVL, REM_CCE1) | PERF_MEM_S(LVLNUM, L3) | kHit | kPeer;
constexpr uint64_t kHisiRemoteSocket =
    PERF_MEM_S(LVL, REM_CCE2) | PERF_MEM_S(LVLNUM, ANY_CACHE) | kRemote | kPeer;

constexpr Source kHisiliconSources[] = {
    {0, kL2 | kHit | kPeer},              // another CPU
    {1, kL2 | kHit | kPeer | kModified},  // likewise, modified there
    {2, kL3 | kHit | kSnoopHit},          // L3
    {3, kL3 | kHit | kModified},          // likewise, modified
    {4, kHisiPeerCluster},                // another cluster
    {5, kHisiPeerCluster | kModified},    // likewise, modified there
    {6, kHisiRemoteSocket},               // another socket
    {7, kHisiRemoteSocket | kModified},   // likewise, modified there
    {8, kLocalMemory},                    // memory of this socket
    {9, PERF_MEM_S(LVL, REM_RAM1) | PERF_MEM_S(LVLNUM, RAM) | kRemote | kHit},
    {13, PERF_MEM_S(LVL, IO) | PERF_MEM_S(LVLNUM, IO) | kHit | kNoSnoop},  // device
    {16, kL2 | kHit | kNoSnoop},                                           // L2
    {17, kL2 | kHit | kModified},                                          // L2, modified
    {18, kL1 | kHit | kNoSnoop},                                           // L1
};

std::span<const Source> sourcesOf(SourceMeaning meaning) {
  switch (meaning) {
    case SourceMeaning::arm:
      return kArmSources;
    case SourceMeaning::ampereOne:
      return kAmpereSources;
    case SourceMeaning::hisilicon:
      return kHisiliconSources;
    case SourceMeaning::events:
      break;
  }
  return {};
}

/// Hit or miss at a level, where the events name it: a miss counts as an access too.
uint64_t reached(uint64_t events, Event access, Event miss, uint64_t level) {
  if ((events & miss) != 0) return level | kMiss;
  return (events & access) != 0 ? level | kHit : 0;
}

/// Of CPUs without L2 and snoop events: the farthest level that the access reached.
uint64_t farthestLevel(uint64_t events) {
  const uint64_t last = reached(events, kEventLlcAccess, kEventLlcMiss, kL3);
  return last != 0 ? last : reached(events, kEventL1dAccess, kEventL1dRefill, kL1);
}

/// Of CPUs with L2 and snoop events: a load's nearest hit, else its farthest miss; a store's farthest level.
uint64_t levelWithL2(uint64_t events, bool load) {
  const uint64_t levels[] = {
      reached(events, kEventL1dAccess, kEventL1dRefill, kL1),
      load && (events & kEventRecentlyFetched) != 0 ? kFillBuffer | kHit : 0,
      reached(events, kEventL2dAccess, kEventL2dMiss, kL2),
      reached(events, kEventLlcAccess, kEventLlcMiss, kL3),
  };
  if (load) {
    for (const uint64_t level : levels)
      if ((level & kHit) != 0) return level;
  }
  for (size_t i = std::size(levels); i-- > 0;)
    if (levels[i] != 0) return levels[i];
  return 0;
}

constexpr uint64_t kNewerEvents =
    kEventL2dAccess | kEventL2dMiss | kEventDataModified | kEventRecentlyFetched | kEventDataSnooped;

uint64_t levelOfEvents(uint64_t events, bool load) {
  const uint64_t level = (events & kNewerEvents) != 0 ? levelWithL2(events, load) : farthestLevel(events);
  return level | ((events & kEventRemoteAccess) != 0 ? kRemote : 0);
}

uint64_t levelOf(const SpeRecord& record, SourceMeaning meaning) {
  const bool load = record.operation.kind == OperationClass::load;
  if (meaning != SourceMeaning::events) {
    if (!load) return kStore;  // these CPUs do not say where a store went
    if (record.has(kPartDataSource)) {
      const std::span<const Source> sources = sourcesOf(meaning);
      const auto found = std::ranges::find(sources, record.dataSource, &Source::code);
      if (found != sources.end()) return found->bits;
    }
  }
  return levelOfEvents(record.events, load);
}

uint64_t translationOf(uint64_t events) {
  if ((events & (kEventTlbAccess | kEventTlbWalk)) == 0) return 0;
  return PERF_MEM_S(TLB, WK) | ((events & kEventTlbWalk) != 0 ? PERF_MEM_S(TLB, MISS) : PERF_MEM_S(TLB, HIT));
}

}  // namespace

SourceMeaning sourceMeaning(uint64_t midr) {
  const auto implementer = static_cast<uint8_t>(midr >> 24);
  const auto part = static_cast<uint16_t>((midr >> 4) & 0xfff);
  for (const Cpu& cpu : kCpus)
    if (cpu.implementer == implementer && cpu.part == part) return cpu.meaning;
  return SourceMeaning::events;
}

uint64_t dataSourceWord(const SpeRecord& record, SourceMeaning meaning) {
  if (!record.operation.accessesMemory()) return 0;
  uint64_t word = levelOf(record, meaning) | translationOf(record.events);
  constexpr uint64_t anySnoop = uint64_t{0x1f} << PERF_MEM_SNOOP_SHIFT;
  if ((word & anySnoop) == 0 && (record.events & kEventDataSnooped) != 0)
    word |= (record.events & kEventDataModified) != 0 ? kModified : kSnoopHit;
  return word |
         (record.operation.kind == OperationClass::load ? PERF_MEM_S(OP, LOAD) : PERF_MEM_S(OP, STORE));
}

}  // namespace cacheline::spe
