// The access tables, split by line so that two threads can fill them: one that reads, and one beside it.
//
//   reader ── push ──► batch of each shard ──► queue of each shard ──► table of each shard
//                                                   ▲ whoever is free takes the next batch of a shard that
//                                                   nobody
//                                                     works on: the second thread, or the reader when it is
//                                                     ahead
//
// A line belongs to one shard and a shard's batches are worked on one after the other, so every line sees its
// samples in the order in which they were pushed: the result does not depend on the number of threads.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "c2c/access_table.h"

namespace cacheline::c2c {

inline constexpr size_t kShards = 8;

class Shards {
 public:
  /// `threads`: 1 (the caller's alone) or 2.
  Shards(uint32_t lineSize, unsigned threads);
  ~Shards();
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  /// `touch` is complete but for its order; the caller's time never goes back.
  void push(const Touch& touch) {
    // Neighbours of a 128-byte pair share a shard.
    const size_t index = mix(touch.offset >> pairShift_, touch.space) % kShards;
    std::vector<Touch>& batch = filling_[index];
    batch.push_back(touch);
    if (batch.size() == kBatch) hand(index);
  }
  /// Waits for everything pushed. Throws what a thread threw. Tables may be read afterwards.
  void finish();

  const AccessTable& table(size_t shard) const { return *shards_[shard].table; }
  /// The shard that a line of a space is in.
  size_t shardOf(uint32_t space, uint64_t offset) const { return mix(offset >> pairShift_, space) % kShards; }

 private:
  static constexpr size_t kBatch = 512;
  static constexpr size_t kBatches = 64;  ///< that wait at most
  struct Shard {
    std::unique_ptr<AccessTable> table;
    std::deque<std::vector<Touch>> queue;
    bool busy = false;
  };
  void hand(size_t index);
  void work();
  /// Takes a batch of a free shard and adds it. Called with the lock, which it gives back meanwhile. False:
  /// there is none to take.
  bool step(std::unique_lock<std::mutex>& lock);
  bool idle() const;

  int pairShift_;
  std::array<std::vector<Touch>, kShards> filling_;
  std::array<Shard, kShards> shards_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<Touch>> spare_;
  size_t waiting_ = 0;  ///< batches in queues
  size_t next_ = 0;     ///< shard to look at first
  bool ending_ = false;
  std::exception_ptr failure_;
  std::thread helper_;
};

}  // namespace cacheline::c2c
