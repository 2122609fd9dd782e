// Memory samples added up by line and row (offset x code address, or what else rows are told apart by). What
// stays behind is bounded by lines, rows and threads, not by samples.
//
// Samples are worked on in small batches, and each batch in steps (find the slot, the row, what the row
// points to), so that the cache misses of a batch overlap: with thousands of lines they are what the time
// goes into.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/interleave.h"
#include "base/hash.h"
#include "c2c/bit_set.h"
#include "c2c/chunks.h"
#include "c2c/data_source.h"
#include "c2c/dense_index.h"
#include "c2c/latency.h"

namespace cacheline::c2c {

/// One sample with an address, placed.
struct Touch {
  uint64_t offset = 0;    ///< position of its first byte in its space, see analysis/line_space.h
  uint64_t address = 0;   ///< virtual
  uint64_t time = 0;      ///< ns
  uint64_t physical = 0;  ///< 0: unknown
  uint64_t cycles = 0;
  const SourceClass* source = nullptr;
  uint32_t space = 0;
  uint32_t region = 0;  ///< what is mapped there, see analysis/data_names.h
  uint32_t group = 0;   ///< samples of one offset and one group make a row
  uint32_t site = 0;    ///< the sampled instruction
  uint32_t thread = 0;
  uint32_t cpu = kNone;
  uint16_t node = kNoNode;        ///< of the CPU
  uint16_t memoryNode = kNoNode;  ///< of the physical address
  static constexpr uint16_t kNoNode = 0xffff;
};

/// Changes of the physical address behind one place, in time order, and the nodes it was on.
struct PhysicalPlace {
  uint64_t last = 0;
  BitSet nodes;
  uint32_t changes = 0;
  uint64_t first = 0;
  void add(const Touch& touch) {
    if (touch.physical == 0 || touch.memoryNode == Touch::kNoNode) return;
    nodes.add(touch.memoryNode);
    if (touch.physical == last) return;
    if (last == 0) first = touch.physical;
    last = touch.physical;
    ++changes;
  }
  /// What came after this.
  void append(const PhysicalPlace& later);
};

/// What the CPUs of one node did in a row.
struct alignas(64) Cell {
  std::array<uint32_t, kRowCounters> counts{};
  std::array<uint32_t, kCycleKinds> loads{};  ///< by what their cycles count for
  std::array<uint64_t, kCycleKinds> cycles{};
  uint32_t next = kNone;
  uint16_t node = Touch::kNoNode;
};

struct alignas(64) Row {
  uint64_t offset = 0;  ///< position in the space
  uint32_t space = 0, group = 0;
  uint32_t line = 0;
  uint32_t site = 0;                            ///< of its first sample
  uint32_t next = kNone;                        ///< row of the same line
  std::array<uint32_t, 2> cells{kNone, kNone};  ///< of nodes 0 and 1
  uint32_t farCells = kNone;                    ///< chain of the others
  uint32_t samples = 0;
  bool locked = false;
  BitSet loaders, storers;  ///< ordinals of the line's uses
  BitSet cpus;
  PhysicalPlace physical;
  Latencies latencies;  ///< of its loads
};

/// One thread at one line. The first 64 bytes are what a sample touches.
struct alignas(64) Use {
  uint32_t thread = 0, line = 0;
  uint32_t ordinal = 0;  ///< within the line
  uint32_t loads = 0, stores = 0;
  uint32_t next = kNone;  ///< use of the same line
  analysis::RunList runs;
};

struct alignas(64) Line {
  // What a sample touches: 128 bytes.
  std::array<uint32_t, 16> recentUses = noUses();  ///< by thread
  uint32_t lastUse = kNone;
  uint32_t localHitm = 0, remoteHitm = 0, peer = 0;
  uint32_t loads = 0, locked = 0, blocked = 0;
  PhysicalPlace physical;
  // The rest.
  uint64_t offset = 0;   ///< position of its first byte
  uint64_t address = 0;  ///< of its first byte, where it was seen first
  uint32_t space = 0, region = 0;
  uint32_t firstRow = kNone, firstUse = kNone, uses = 0;
  bool shared() const { return (localHitm | remoteHitm | peer) != 0; }

 private:
  static constexpr std::array<uint32_t, 16> noUses() {
    std::array<uint32_t, 16> uses{};
    uses.fill(kNone);
    return uses;
  }
};

/// What the numbers of another table mean in this one: index by the other's number.
struct Renumbering {
  std::vector<uint32_t> spaces, regions, groups, sites, threads;
};

class AccessTable {
 public:
  explicit AccessTable(uint32_t lineSize) : lineSize_(lineSize) {}

  /// Touches come in time order; flush() after the last one. `touch.source` stays valid until then.
  void add(const Touch& touch) {
    batch_[pending_] = touch;
    if (++pending_ == kBatch) flush();
  }
  void flush();
  /// Adds what a table of a later stretch of time holds.
  void append(const AccessTable& later, const Renumbering& numbers);

  size_t lines() const { return lines_.size(); }
  const Line& line(uint32_t index) const { return lines_[index]; }
  const Row& row(uint32_t index) const { return rows_[index]; }
  template <typename Visit>
  void eachCell(const Row& row, Visit&& visit) const {
    for (const uint32_t cell : row.cells)
      if (cell != kNone) visit(cells_[cell]);
    for (uint32_t cell = row.farCells; cell != kNone; cell = cells_[cell].next) visit(cells_[cell]);
  }
  const Use& use(uint32_t index) const { return uses_[index]; }
  Percentiles latencies(const Row& row) const { return latencies_.percentiles(row.latencies); }
  /// kNone where nothing was seen.
  uint32_t find(uint32_t space, uint64_t lineOffset) const;

 private:
  static constexpr size_t kBatch = 32;
  struct Step {
    uint64_t hash = 0;
    uint32_t row = kNone;
  };
  static uint64_t rowHash(uint64_t offset, uint32_t space, uint32_t group) {
    return mix(offset, (uint64_t{space} << 32) | group);
  }
  static uint64_t lineHash(uint64_t offset, uint32_t space) { return mix(offset, space); }
  static uint64_t useHash(uint32_t line, uint32_t thread) { return mix(line, thread); }
  uint32_t rowOf(const Touch& touch, uint64_t hash, uint32_t guess);
  uint32_t lineOf(const Touch& touch);
  uint32_t useOf(uint32_t line, uint32_t thread);
  Cell& cellOf(Row& row, uint16_t node);
  Cell& addCell(uint32_t& place, uint16_t node, uint32_t next);
  void apply(const Touch& touch, Row& row);

  uint32_t lineSize_;
  size_t pending_ = 0;
  std::array<Touch, kBatch> batch_;
  std::array<Step, kBatch> steps_;
  DenseIndex rowIndex_, lineIndex_, useIndex_;
  Chunks<Line> lines_;
  Chunks<Row> rows_;
  Chunks<Cell> cells_;
  Chunks<Use> uses_;
  LatencyTable latencies_;
};

}  // namespace cacheline::c2c
