// Memory samples added up by line and row (offset x code address, or what else rows are told apart by). What
// stays behind is bounded by lines, rows and threads, not by samples.
//
// Layout: a sample looks up its row (one probe), the row's cell of its source class (a short chain, the one
// met last in front), and its (line, thread), which the row remembers as long as the thread stays the same.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/interleave.h"
#include "base/hash.h"
#include "c2c/bit_set.h"
#include "c2c/chunks.h"
#include "c2c/latency.h"

namespace cacheline::c2c {

inline constexpr uint32_t kNone = ~0u;

/// One sample with an address, placed.
struct Touch {
  uint64_t offset = 0;    ///< position of its first byte in its space, see analysis/line_space.h
  uint64_t address = 0;   ///< virtual
  uint64_t time = 0;      ///< ns
  uint64_t physical = 0;  ///< 0: unknown
  uint64_t cycles = 0;
  uint32_t space = 0;
  uint32_t region = 0;  ///< what is mapped there, see analysis/data_names.h
  uint32_t group = 0;   ///< samples of one offset and one group make a row
  uint32_t site = 0;    ///< the sampled instruction
  uint32_t thread = 0;
  uint32_t sourceClass = 0;
  uint32_t cpu = 0;
  uint16_t node = 0;                                ///< of the CPU, an index
  uint16_t memoryNode = kNoNode;                    ///< of the physical address, an index
  bool load = false;                                ///< else a store
  uint8_t localHitm = 0, remoteHitm = 0, peer = 0;  ///< what its source class adds to these counters
  static constexpr uint16_t kNoNode = 0xffff;
};

/// Changes of the physical address behind one place, in time order, and the nodes it was on.
struct PhysicalPlace {
  uint64_t last = 0;
  uint32_t changes = 0;
  BitSet nodes;
  void add(const Touch& touch) {
    if (touch.physical == 0 || touch.memoryNode == Touch::kNoNode) return;
    nodes.add(touch.memoryNode);
    if (touch.physical == last) return;
    last = touch.physical;
    ++changes;
  }
};

/// Samples of one row, source class and CPU node.
struct Cell {
  uint32_t sourceClass = 0;
  uint32_t next = kNone;
  uint32_t samples = 0;
  uint16_t node = 0;
  uint64_t cycles = 0;  ///< sum
};

struct Row {
  uint64_t offset = 0;  ///< position in the space
  uint32_t group = 0, line = 0;
  uint32_t site = 0;      ///< of its first sample
  uint32_t next = kNone;  ///< row of the same line
  uint32_t firstCell = kNone;
  uint32_t lastThread = kNone, lastUse = kNone;
  BitSet loaders, storers;  ///< ordinals of the line's uses
  BitSet cpus;
  PhysicalPlace physical;
  Latencies latencies;  ///< of its loads
};

/// One thread at one line.
struct Use {
  analysis::Run only;  ///< its run while there is one
  uint32_t thread = 0;
  uint32_t ordinal = 0;    ///< within the line
  uint32_t next = kNone;   ///< use of the same line
  uint32_t block = kNone;  ///< of its RunList from the second run on
  uint32_t loads = 0, stores = 0;
};

struct Line {
  uint64_t offset = 0;   ///< position of its first byte
  uint64_t address = 0;  ///< of its first byte, where it was seen first
  uint32_t space = 0, region = 0;
  uint32_t firstRow = kNone, firstUse = kNone, lastUse = kNone, uses = 0;
  uint32_t localHitm = 0, remoteHitm = 0, peer = 0;
  PhysicalPlace physical;
};

class AccessTable {
 public:
  explicit AccessTable(uint32_t lineSize) : lineSize_(lineSize) {}

  /// Touches of one line come in time order.
  void add(const Touch& touch);

  size_t lines() const { return lines_.size(); }
  const Line& line(uint32_t index) const { return lines_[index]; }
  const Row& row(uint32_t index) const { return rows_[index]; }
  const Cell& cell(uint32_t index) const { return cells_[index]; }
  const Use& use(uint32_t index) const { return uses_[index]; }
  std::span<const analysis::Run> runs(const Use& use) const;
  /// kNone where nothing was seen.
  uint32_t find(uint32_t space, uint64_t lineOffset) const;

 private:
  struct RowKey {
    uint64_t offset = 0;
    uint32_t space = 0, group = 0;
    bool operator==(const RowKey&) const = default;
    size_t hash() const { return mix(offset, (uint64_t{space} << 32) | group); }
  };
  struct LineKey {
    uint64_t offset = 0;
    uint32_t space = 0;
    bool operator==(const LineKey&) const = default;
    size_t hash() const { return mix(offset, space); }
  };
  struct UseKey {
    uint32_t line = 0, thread = 0;
    bool operator==(const UseKey&) const = default;
    size_t hash() const { return mix(line, thread); }
  };
  uint32_t rowOf(const Touch& touch);
  uint32_t lineOf(const Touch& touch);
  uint32_t useOf(uint32_t line, uint32_t thread);
  Cell& cellOf(Row& row, uint32_t sourceClass, uint16_t node);
  void extendRuns(Line& line, uint32_t use, uint64_t time);

  uint32_t lineSize_;
  HashMap<RowKey, uint32_t> rowIndex_;
  HashMap<LineKey, uint32_t> lineIndex_;
  HashMap<UseKey, uint32_t> useIndex_;
  Chunks<Line> lines_;
  Chunks<Row> rows_;
  Chunks<Cell> cells_;
  Chunks<Use> uses_;
  Chunks<analysis::RunList> blocks_;
};

}  // namespace cacheline::c2c
