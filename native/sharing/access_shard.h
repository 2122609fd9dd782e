// The lines of one shard of the access table: samples added up by line and row (offset x code address, or
// what else rows are told apart by). What stays behind is bounded by lines, rows and threads, not by samples.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/interleave.h"
#include "base/hash.h"
#include "sharing/bit_set.h"
#include "sharing/chunks.h"
#include "sharing/dense_index.h"
#include "sharing/latency.h"
#include "sharing/memory_access.h"
#include "sharing/memory_nodes.h"
#include "sharing/sample_log.h"
#include "sharing/split_table.h"

namespace cacheline::sharing {

/// Changes of the physical address behind one place, in time order, and the nodes it was on.
struct PhysicalPlace {
  uint64_t last = 0;
  BitSet nodes;
  uint32_t changes = 0;
  void add(uint64_t physical, uint16_t node) {
    nodes.add(node);
    changes += physical != last ? 1 : 0;
    last = physical;
  }
};

/// What the CPUs of one node did in a row.
struct alignas(64) NodeCounts {
  RowCounts counts{};
};
static_assert(sizeof(NodeCounts) == 64);

/// The sums of one row.
struct alignas(64) RowSums {
  std::array<uint32_t, 2> nodes{kNone, kNone};  ///< of nodes 0 and 1
  uint32_t farNodes = kNone;                    ///< chain of the others
  uint32_t samples = 0;
  std::array<uint64_t, kCycleKinds> cycles{};
  std::array<uint32_t, kCycleKinds> loads{};  ///< by what their cycles count for
  Latencies latencies;                        ///< of its loads
  uint32_t locked = 0, blocked = 0;
};

/// A row keeps its first samples as they are and has sums only where there are more: most rows of a recording
/// with many lines need none. One that only sums of objects and types need has no more than those.
struct alignas(64) Row {
  static constexpr uint32_t kKept = 3;
  struct Kept {
    const SourceClass* source;
    uint32_t cycles;
    uint16_t node;  ///< of the CPU
  };
  uint64_t offset = 0;  ///< position in the space
  uint32_t space = 0, group = 0;
  uint32_t line = 0;
  uint32_t location = 0;  ///< of its first sample
  uint32_t next = kNone;  ///< row of the same line
  uint32_t sums = kNone;
  BitSet cpus;
  [[no_unique_address]] PhysicalPlace physical;
  uint8_t keptCount = 0;
  bool aggregateOnly = false;  ///< it has `aggregateSums`, and neither of the other sums nor physical places
  BitSet loaders, storers;     ///< ordinals of actors of the line
  union {
    std::array<Kept, kKept> kept;
    AggregateSums aggregateSums;
  };
};
static_assert(sizeof(Row) == 128);

/// One actor at one line. The first 64 bytes are what a sample touches.
struct alignas(64) ActorStatistics {
  uint32_t actor = 0, line = 0;
  uint32_t ordinal = 0;  ///< within the line
  uint32_t loads = 0, stores = 0;
  uint32_t next = kNone;  ///< actor of the same line
  analysis::RunList runs;
};

struct alignas(64) Line {
  // What a sample touches: 128 bytes.
  std::array<uint32_t, 16> recentActors = noActors();  ///< by actor
  uint32_t lastActor = kNone;
  uint32_t actors = 0;
  PhysicalPlace physical;
  uint64_t offset = 0;   ///< position of its first byte
  uint64_t address = 0;  ///< of its first byte, where it was seen first
  uint32_t space = 0, region = 0;
  /// By default from when a second actor came, as nobody competes before; null until then, and of
  /// aggregate-only rows.
  std::unique_ptr<SampleLog> log;
  // The rest; the sums are there after AccessShard::finish().
  uint32_t firstRow = kNone, firstActor = kNone;
  uint32_t loads = 0, locked = 0, blocked = 0;
  bool aggregateOnly = false;   ///< some of its rows are
  RowCounts aggregateCounts{};  ///< of its aggregate-only rows
  RowTally tally;
  bool shared() const { return tally.hitm() + tally.peer() != 0; }

 private:
  static constexpr std::array<uint32_t, 16> noActors() {
    std::array<uint32_t, 16> actors{};
    actors.fill(kNone);
    return actors;
  }
};

/// Which samples of a line are logged, one by one.
struct Logging {
  size_t most = 512;                     ///< of each kind, see SampleLog; of more, some
  bool fromStart = false;                ///< also before a second actor comes
  std::optional<Splitting> splits = {};  ///< samples are told apart by it; empty: they are not
  /// When a sample's core had one at the line before is logged, too; null: it is not.
  const analysis::CpuCores* cores = nullptr;
};

/// The table's number of shards. Lines, rows and actors are numbered across all of them: the remainder is the
/// shard's number.
inline constexpr uint32_t kShards = 32;

/// Where a shard has many rows, accesses are worked on in small batches, and each batch in steps (find the
/// slot, the row, what the row points to), so that the cache misses of a batch overlap.
class AccessShard {
 public:
  /// `placements`: of the accesses, which are added to only while no access is.
  AccessShard(uint32_t lineSize, uint32_t number, const std::vector<Placement>& placements,
              const MemoryNodes& memoryNodes, const Logging& logging, ChunkPool& pool)
      : lineSize_(lineSize),
        number_(number),
        placements_(placements),
        memoryNodes_(memoryNodes),
        logging_(logging),
        lines_(pool),
        rows_(pool),
        sums_(pool),
        nodeCounts_(pool),
        farNodes_(pool),
        actors_(pool),
        latencies_(pool) {
    if (logging.splits) splits_.emplace(*logging.splits);
  }

  /// In time order. Their sources stay valid as long as this object.
  void add(std::span<const MemoryAccess* const> accesses);
  /// After the last one: sums up the lines.
  void finish();
  /// Adds what the rows of a line have kept to their sums.
  void settle(const Line& line);

  size_t lines() const { return lines_.size(); }
  const Line& line(uint32_t at) const { return lines_[at]; }
  const Row& row(uint32_t at) const { return rows_[at]; }
  const ActorStatistics& actor(uint32_t at) const { return actors_[at]; }
  /// The line that starts at `offset`: its index in this shard, or kNone.
  uint32_t find(uint32_t space, uint64_t offset) const;
  /// The row of samples at `offset`; null where there is none.
  const Row* findRow(uint32_t space, uint64_t offset, uint32_t group) const;
  uint32_t samples(const Row& row) const {
    if (row.aggregateOnly) return row.aggregateSums[SumCounter::samples];
    return row.keptCount + (row.sums == kNone ? 0 : sums_[row.sums].samples);
  }
  /// Of a row that is not aggregate-only.
  RowTally tally(const Row& row) const;
  AggregateSums aggregateSums(const Row& row) const;
  /// Of a row of a settled line that is not aggregate-only.
  const RowSums& sums(const Row& row) const { return sums_[row.sums]; }
  template <typename Visit>
  void eachNode(const RowSums& sums, Visit&& visit) const {
    for (uint16_t node = 0; node < sums.nodes.size(); ++node)
      if (sums.nodes[node] != kNone) visit(node, nodeCounts_[sums.nodes[node]]);
    for (uint32_t far = sums.farNodes; far != kNone; far = farNodes_[far].next)
      visit(farNodes_[far].node, nodeCounts_[farNodes_[far].counts]);
  }
  Percentiles percentiles(const RowSums& sums) const { return latencies_.percentiles(sums.latencies); }
  /// Of a row, where they are asked for.
  template <typename Visit>
  void eachSplit(const Row& row, Visit&& visit) const {
    if (splits_) splits_->each(row, visit);
  }

  static uint64_t lineHash(uint64_t offset, uint32_t space) { return mix(offset, space); }

 private:
  static constexpr size_t kBatch = 32;
  static constexpr size_t kCachedRows = 64;  ///< so few are in the cache anyway
  static uint64_t rowHash(uint64_t offset, uint32_t space, uint32_t group) {
    return mix(offset, (uint64_t{space} << 32) | group);
  }
  static uint64_t actorHash(uint32_t line, uint32_t actor) { return mix(line, actor); }
  uint64_t startOf(const MemoryAccess& access) const { return access.offset & ~uint64_t{lineSize_ - 1}; }
  uint32_t spaceOf(const MemoryAccess& access) const { return placements_[access.placement].space; }
  uint64_t rowHash(const MemoryAccess& access) const {
    return rowHash(access.offset, spaceOf(access), access.group);
  }
  uint32_t idOf(uint32_t at) const { return at * kShards + number_; }
  void addBatch(std::span<const MemoryAccess* const> accesses);
  void addOne(const MemoryAccess& access);
  bool isOf(const Row& row, const MemoryAccess& access) const {
    return row.offset == access.offset && row.space == spaceOf(access) && row.group == access.group;
  }
  Row* guessRow(uint64_t hash) {
    const uint32_t index = rowIndex_.guess(hash);
    return index == kNone ? nullptr : &rows_[index];
  }
  Row& findRow(const MemoryAccess& access, uint64_t hash);
  uint32_t lineOf(const MemoryAccess& access);
  uint32_t actorOf(uint32_t line, uint32_t actor);
  NodeCounts& nodeCountsOf(RowSums& sums, uint16_t node) {
    if (node < sums.nodes.size() && sums.nodes[node] != kNone) [[likely]]
      return nodeCounts_[sums.nodes[node]];
    return findNodeCounts(sums, node);
  }
  NodeCounts& findNodeCounts(RowSums& sums, uint16_t node);
  uint32_t addNodeCounts();
  void prefetchSums(const RowSums& sums, const MemoryAccess& access) const;
  void apply(const MemoryAccess& access, Row& row, Line& line);
  static void applyAggregateOnly(const MemoryAccess& access, Row& row, Line& line);
  void settle(Row& row);
  void add(const SourceClass& source, uint64_t cycles, uint16_t node, Row& row);

  uint32_t lineSize_, number_;
  const std::vector<Placement>& placements_;
  MemoryNodes memoryNodes_;
  const Logging logging_;
  DenseIndex rowIndex_, lineIndex_, actorIndex_;
  Chunks<Line> lines_;
  Chunks<Row> rows_;
  Chunks<RowSums> sums_;
  Chunks<NodeCounts> nodeCounts_;
  struct FarNode {
    uint32_t counts, next;
    uint16_t node;
  };
  Chunks<FarNode> farNodes_;
  Chunks<ActorStatistics> actors_;
  LatencyTable latencies_;
  std::optional<SplitTable> splits_;
};

}  // namespace cacheline::sharing
