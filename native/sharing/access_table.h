// Memory samples added up by line and row, in shards by line: those of one shard are added together, so that
// what they touch is in the caches meanwhile, by any of some threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/job_queue.h"
#include "sharing/access_order.h"
#include "sharing/access_shard.h"

namespace cacheline::sharing {

/// Accesses in a row, for one writer and then one reader.
class AccessList {
 public:
  /// Unwritten.
  MemoryAccess& next() {
    if (size_ == capacity_) [[unlikely]]
      grow();
    MemoryAccess* const access = &accesses_[size_++];
    // By the time it is full, the list has been read by another thread and is in no cache of this one.
    __builtin_prefetch(access + 3, 1);
    return *access;
  }
  void clear() { size_ = 0; }
  std::span<const MemoryAccess> accesses() const { return {accesses_.get(), size_}; }

 private:
  [[gnu::noinline]] void grow() {
    const size_t capacity = std::max<size_t>(2 * capacity_, 64);
    auto grown = std::make_unique_for_overwrite<MemoryAccess[]>(capacity);
    std::copy_n(accesses_.get(), size_, grown.get());
    accesses_ = std::move(grown);
    capacity_ = capacity;
  }
  std::unique_ptr<MemoryAccess[]> accesses_;
  size_t size_ = 0, capacity_ = 0;
};

/// Accesses on their way into a table, by shard. Of one thread of ours.
class AccessLists {
 public:
  /// `lineSize`: of the table.
  explicit AccessLists(uint32_t lineSize) : lineMask_(~uint64_t{lineSize - 1}) {}

  /// The next access, whose other fields are to be written before the next call.
  MemoryAccess& next(uint64_t offset, uint32_t space) {
    MemoryAccess& access = lists_[shardOf(offset & lineMask_, space)].next();
    access.offset = offset;
    ++size_;
    return access;
  }
  size_t size() const { return size_; }
  void clear() {
    for (AccessList& list : lists_) list.clear();
    size_ = 0;
  }
  /// Clears, and gives the memory back.
  void release() {
    lists_ = {};
    size_ = 0;
  }
  std::span<const MemoryAccess> operator[](uint32_t shard) const { return lists_[shard].accesses(); }

  static uint32_t shardOf(uint64_t lineOffset, uint32_t space) {
    // Bits that the shard's own index leaves alone.
    return (AccessShard::lineHash(lineOffset, space) >> 27) % kShards;
  }

 private:
  uint64_t lineMask_;
  size_t size_ = 0;
  std::array<AccessList, kShards> lists_;
};

class AccessTable {
 public:
  /// `lineSize`: bytes, a power of two. `placements`: of the accesses; more may come while none is added.
  /// The result is the same with any number of `threads`.
  AccessTable(uint32_t lineSize, const std::vector<Placement>& placements, const MemoryNodes& memoryNodes,
              unsigned threads = 1, const Logging& logging = {});

  /// Accesses in any order, none of which is older than one added before: late ones count as if they came
  /// when they do. Their sources stay valid as long as this object.
  void add(std::span<const AccessLists* const> accesses);
  /// After the last ones.
  void finish();
  /// Frees everything; nothing can be asked afterwards.
  void forget();

  uint32_t lineSize() const { return lineSize_; }
  size_t lines() const;
  template <typename Visit>
  void eachLine(Visit&& visit) const {
    for (const auto& shard : shards_)
      for (uint32_t at = 0; at < shard->lines(); ++at) visit(shard->line(at));
  }
  const Line& line(uint32_t index) const { return shard(index).line(index / kShards); }
  const Row& row(uint32_t index) const { return shard(index).row(index / kShards); }
  const ActorStatistics& actor(uint32_t index) const { return shard(index).actor(index / kShards); }
  /// The line that starts at `lineOffset`, or kNone.
  uint32_t find(uint32_t space, uint64_t lineOffset) const;

  /// The row of samples at `offset` in a space; null where there is none.
  const Row* findRow(uint32_t space, uint64_t offset, uint32_t group) const {
    return shards_[AccessLists::shardOf(offset & ~uint64_t{lineSize_ - 1}, space)]->findRow(space, offset,
                                                                                            group);
  }
  uint32_t samples(const Row& row) const { return shardOf(row).samples(row); }

  /// Of a row that is not aggregate-only, as the last three.
  RowTally tally(const Row& row) const { return shardOf(row).tally(row); }
  AggregateSums aggregateSums(const Row& row) const { return shardOf(row).aggregateSums(row); }
  /// Needed before sums() of its rows.
  void settle(const Line& line) { shards_[AccessLists::shardOf(line.offset, line.space)]->settle(line); }
  const RowSums& sums(const Row& row) const { return shardOf(row).sums(row); }
  template <typename Visit>
  void eachNode(const Row& row, Visit&& visit) const {
    shardOf(row).eachNode(sums(row), visit);
  }
  Percentiles percentiles(const Row& row) const { return shardOf(row).percentiles(sums(row)); }
  /// What the samples of a row part into, where that is asked for: see Logging::splits.
  template <typename Visit>
  void eachSplit(const Row& row, Visit&& visit) const {
    shardOf(row).eachSplit(row, visit);
  }

 private:
  struct Job {
    uint32_t shard = 0;
    std::span<const AccessLists* const> accesses;
    bool last = false;  ///< of the shard
  };
  const AccessShard& shardOf(const Row& row) const {
    return *shards_[AccessLists::shardOf(row.offset & ~uint64_t{lineSize_ - 1}, row.space)];
  }
  const AccessShard& shard(uint32_t index) const { return *shards_[index % kShards]; }
  void work(unsigned worker, const Job& job);

  uint32_t lineSize_;
  ChunkPool pool_;
  std::array<std::unique_ptr<AccessShard>, kShards> shards_;
  std::vector<AccessOrder> orders_;  ///< by thread
  JobQueue<Job> queue_;              ///< its threads end before the shards do
};

}  // namespace cacheline::sharing
