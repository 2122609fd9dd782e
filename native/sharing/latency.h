// The distribution of load latencies of rows: exact while a row has few loads, a histogram afterwards.
#pragma once

#include <array>
#include <cstdint>

#include "base/hash.h"
#include "sharing/chunks.h"
#include "sharing/dense_index.h"

namespace cacheline::sharing {

/// In core cycles. pN is the smallest value that at least N percent of the loads do not exceed.
struct Percentiles {
  uint64_t p50 = 0, p95 = 0, max = 0;
};

/// Numbers of one row: the first loads here, more of them in blocks that a LatencyTable keeps. Most rows of a
/// recording with many lines have only some loads.
struct Latencies {
  static constexpr size_t kBlocks = 8;
  std::array<uint32_t, kBlocks> blocks{};  ///< up to kBlocks loads: they themselves; else blocks, or kNone
  uint32_t loads = 0;
  uint32_t max = 0;
};

/// Percentiles are exact up to kExact loads of a row; beyond that a value may be off by 1/32 (sixteen buckets
/// an octave, the middle of a bucket stands for it). The maximum is always exact. At most 2 KiB a row,
/// whatever the number of loads.
class LatencyTable {
 public:
  static constexpr uint32_t kExact = 64;

  explicit LatencyTable(ChunkPool& pool) : blocks_(pool) {}

  /// Values above 2^32 - 1 cycles count as that.
  void add(Latencies& row, uint64_t cycles);
  /// Fetches what add() would touch.
  void prefetch(const Latencies& row, uint32_t cycles) const;
  Percentiles percentiles(const Latencies& row) const;

 private:
  static constexpr uint32_t kBucketsOfBlock = 2 * kExact;
  union Block {
    std::array<uint32_t, kExact> loads;            ///< themselves
    std::array<uint16_t, kBucketsOfBlock> counts;  ///< of neighbouring buckets, modulo 2^16
  };
  void addToBucket(Latencies& row, uint32_t bucket);
  uint64_t countOf(uint32_t block, uint32_t bucket) const;
  uint32_t blockOf(Latencies& row, size_t block);
  void toBlock(Latencies& row);
  const uint32_t* values(const Latencies& row) const;
  void toHistogram(Latencies& row);
  uint64_t at(const Latencies& row, uint64_t rank) const;

  Chunks<Block> blocks_;
  HashMap<uint64_t, uint32_t> carries_;  ///< counts / 2^16, where they are so large
};

}  // namespace cacheline::sharing
