// Full buffers of touches on their way into the shards, and the second thread that works on them.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "c2c/access_shard.h"

namespace cacheline::c2c {

/// The thread that reads puts buffers in; a second one takes them out, and where it falls behind, the first
/// one helps. The buffers of one shard are worked on one after the other, in the order they came: the result
/// does not depend on who does it.
class TouchQueue {
 public:
  /// Room for kTouches, in no state until they are written.
  struct Buffer {
    static constexpr size_t kTouches = 256;
    std::unique_ptr<Touch[]> touches = std::make_unique_for_overwrite<Touch[]>(kTouches);
    size_t count = 0;
  };
  struct Job {
    uint32_t shard = 0;
    bool last = false;  ///< of its shard
    Buffer buffer;
  };

  /// `threads`: 1 or 2; with one, put() does the work itself. `work` must stand being called by both threads
  /// at once, for two shards.
  TouchQueue(unsigned threads, std::function<void(const Job&)> work);
  TouchQueue(const TouchQueue&) = delete;
  TouchQueue& operator=(const TouchQueue&) = delete;
  /// What is not done yet is dropped.
  ~TouchQueue();

  /// Takes what is in the buffer and leaves an empty one. Throws what `work` threw.
  void put(uint32_t shard, Buffer& buffer, bool last = false);
  /// Returns when everything is done. Throws what `work` threw.
  void finish();

 private:
  using Lock = std::unique_lock<std::mutex>;
  bool workOnOne(Lock& lock);
  void workUntilStopped();
  void rethrow();

  const std::function<void(const Job&)> work_;
  const bool alone_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Under the mutex:
  std::deque<Job> jobs_;
  std::vector<Buffer> spare_;
  std::array<bool, kShards> busy_{};
  bool stop_ = false;
  std::exception_ptr failure_;
  std::thread helper_;
};

}  // namespace cacheline::c2c
