// Memory samples added up by line and row, in shards by line: those of one shard wait until there are many,
// so that what they touch is in the caches while they are added, by either of two threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "c2c/access_shard.h"
#include "c2c/touch_queue.h"

namespace cacheline::c2c {

class AccessTable {
 public:
  /// `lineSize`: bytes, a power of two. `threads`: 1 or 2; the result is the same.
  explicit AccessTable(uint32_t lineSize, unsigned threads = 1);

  /// The next touch, whose other fields are to be written before the next call. In time order; finish() after
  /// the last one. Their sources stay valid as long as this object.
  Touch& next(uint64_t offset, uint32_t space) {
    const uint32_t shard = shardOf(offset, space);
    TouchQueue::Buffer& buffer = buffers_[shard];
    if (buffer.count == TouchQueue::Buffer::kTouches) [[unlikely]]
      put(shard);
    Touch& touch = buffer.touches[buffer.count++];
    touch.offset = offset;
    touch.space = space;
    return touch;
  }
  void finish();

  size_t lines() const;
  template <typename Visit>
  void eachLine(Visit&& visit) const {
    for (const auto& shard : shards_)
      for (uint32_t at = 0; at < shard->lines(); ++at) visit(shard->line(at));
  }
  const Line& line(uint32_t index) const { return shard(index).line(index / kShards); }
  const Row& row(uint32_t index) const { return shard(index).row(index / kShards); }
  const Use& use(uint32_t index) const { return shard(index).use(index / kShards); }
  /// The line that starts at `lineOffset`, or kNone.
  uint32_t find(uint32_t space, uint64_t lineOffset) const;

  RowTally tally(const Row& row) const { return shardOf(row).tally(row); }
  /// Needed before sums() of its rows.
  void settle(const Line& line) { shards_[shardOf(line.offset, line.space)]->settle(line); }
  const RowSums& sums(const Row& row) const { return shardOf(row).sums(row); }
  template <typename Visit>
  void eachCell(const Row& row, Visit&& visit) const {
    shardOf(row).eachCell(sums(row), visit);
  }
  Percentiles percentiles(const Row& row) const { return shardOf(row).percentiles(sums(row)); }

 private:
  uint32_t shardOf(uint64_t offset, uint32_t space) const {
    // Bits that the shard's own index leaves alone.
    return (AccessShard::lineHash(offset & ~uint64_t{lineSize_ - 1}, space) >> 27) % kShards;
  }
  const AccessShard& shardOf(const Row& row) const { return *shards_[shardOf(row.offset, row.space)]; }
  const AccessShard& shard(uint32_t index) const { return *shards_[index % kShards]; }
  void put(uint32_t shard);

  uint32_t lineSize_;
  ChunkPool pool_;
  std::array<std::unique_ptr<AccessShard>, kShards> shards_;
  std::array<TouchQueue::Buffer, kShards> buffers_;
  TouchQueue queue_;  ///< its thread ends before the shards do
};

}  // namespace cacheline::c2c
