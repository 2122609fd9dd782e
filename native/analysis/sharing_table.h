// Counts of accesses by line, visitor and code: what one pass over the samples leaves behind. Its size is
// bounded by lines x visitors x code addresses; beside it there are four bytes a sample, which tell the
// order.
//
// Layout: the hot path of a sample is one look-up in `cells_` (count, CPUs and the index of the use are in
// the bucket itself), then the line (who was there last) and the use (the current run).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/interleave.h"
#include "analysis/line_space.h"
#include "base/hash.h"

namespace cacheline::analysis {

/// One access as it enters the table.
struct MemoryAccess {
  Position position;     ///< of its first byte
  uint64_t address = 0;  ///< virtual
  uint64_t time = 0;     ///< ns
  uint32_t actor = 0;    ///< who competes and shares: a thread (dense index), or a goroutine
  uint32_t visitor = 0;  ///< the actor on one thread (see Visitors)
  uint32_t site = 0;     ///< index of the sampled instruction (see attribution.h)
  uint32_t cpu = 0;
};

/// Every (byte position, visitor, site), and the CPUs in groups of 64 so that one word holds them.
struct CellKey {
  uint64_t offset = 0;  ///< position in the space
  uint32_t space = 0, visitor = 0, site = 0, cpuGroup = 0;
  bool operator==(const CellKey&) const = default;
  size_t hash() const {
    return mix(mix(offset, (uint64_t{space} << 32) | visitor), (uint64_t{site} << 32) | cpuGroup);
  }
};

struct RowStatistics {
  uint64_t cpus = 0;    ///< bit n: CPU 64 * cpuGroup + n
  uint32_t count = 0;   ///< samples; 2^32 of them would be a recording of a terabyte
  uint32_t use = 0;     ///< index of the (line, actor)
  uint32_t number = 0;  ///< of the cell
};

/// One actor at one line.
struct ThreadLineStatistics {
  RunList runs;
  uint32_t line = 0, actor = 0;
  uint32_t next = kNone;  ///< next use of the same line
};

struct LineEntry {
  uint64_t offset = 0;   ///< position of its first byte in the space
  uint64_t address = 0;  ///< lowest virtual address at which it was seen
  uint32_t space = 0;
  uint32_t region = kNone;  ///< what is there, set by the caller (see data_names.h)
  uint32_t lastUse = kNone;
  uint32_t firstUse = kNone;
  uint32_t uses = 0;
  uint32_t records = 0;  ///< samples; 0 where accesses only reached into it
  bool named = false;    ///< symbols are known to name all of it; set by the caller
  bool go = false;       ///< a Go program accessed it
  bool stack = false;    ///< an accessing thread's stack pointer was in the same mapping
};

class SharingTable {
 public:
  explicit SharingTable(uint32_t lineSize) : lineSize_(lineSize) {}
  uint32_t lineSize() const { return lineSize_; }

  /// Counts one sample. Returns its line; `created` says whether this is the first time it was seen.
  LineEntry& add(const MemoryAccess& access, bool& created);
  /// An access that began in the line before reaches `bytes` into the line of `touch`: the thread was there
  /// too (runs), but the sample is counted once, where it began.
  LineEntry& reach(const MemoryAccess& access, uint32_t bytes, bool& created);

  /// The line of a place that was watched, whether anything was sampled there or not.
  uint32_t watch(Position position, uint64_t address, bool& created);
  void setRegion(uint32_t line, uint32_t region) { lines_[line].region = region; }

  const std::vector<LineEntry>& lines() const { return lines_; }
  /// Index of the line at a position, kNone where nothing was seen.
  uint32_t find(Position position) const;
  const ThreadLineStatistics& use(uint32_t index) const { return uses_[index]; }

  struct CellView {
    const CellKey* key = nullptr;
    const RowStatistics* cell = nullptr;
  };
  /// The first `bytes` of a line touched by accesses of one visitor and site that began before it.
  struct Reach {
    uint32_t use = 0, visitor = 0, site = 0, bytes = 0;
  };
  /// What was seen at some lines.
  struct Selection {
    std::vector<CellView> cells;  ///< ordered by line, offset, site, visitor and CPU group
    std::vector<Reach> reaches;   ///< ordered by line
    std::vector<uint32_t> steps;  ///< by line, then in time order: indices of cells, or kReach + of reaches
    std::vector<size_t> cellsFrom, reachesFrom, stepsFrom;  ///< by line, and one behind the last
  };
  static constexpr uint32_t kReach = 1u << 31;
  /// Of the lines for which `wanted[line]`.
  Selection select(const std::vector<bool>& wanted) const;

 private:
  struct LineKey {
    uint64_t offset = 0;
    uint32_t space = 0;
    bool operator==(const LineKey&) const = default;
    size_t hash() const { return mix(offset, space); }
  };
  struct UseKey {
    uint32_t line = 0, actor = 0;
    bool operator==(const UseKey&) const = default;
    size_t hash() const { return mix(line, actor); }
  };
  struct ReachKey {
    uint32_t use = 0, visitor = 0, site = 0;
    bool operator==(const ReachKey&) const = default;
    size_t hash() const { return mix(use, (uint64_t{visitor} << 32) | site); }
  };
  uint32_t lineOf(Position position, uint64_t address, bool& created);
  uint32_t useOf(const MemoryAccess& access, bool& created);
  void record(uint32_t use, uint64_t time);

  uint32_t lineSize_;
  HashMap<CellKey, RowStatistics> cells_;
  HashMap<LineKey, uint32_t> lineIndex_;
  HashMap<UseKey, uint32_t> useIndex_;
  HashMap<ReachKey, uint32_t> reachIndex_;
  std::vector<Reach> reaches_;      ///< with the most bytes seen
  std::vector<uint32_t> sequence_;  ///< of samples: numbers of cells, or kReach + indices of reaches_
  std::vector<LineEntry> lines_;
  std::vector<ThreadLineStatistics> uses_;
};

}  // namespace cacheline::analysis
