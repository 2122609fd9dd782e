// Shards and the thread beside the reader.
#include "c2c/shards.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace cacheline::c2c {

Shards::Shards(uint32_t lineSize, unsigned threads) : pairShift_(std::countr_zero(lineSize) + 1) {
  for (Shard& shard : shards_) shard.table = std::make_unique<AccessTable>(lineSize);
  for (std::vector<Touch>& batch : filling_) batch.reserve(kBatch);
  if (threads > 1) helper_ = std::thread([this] { work(); });
}

Shards::~Shards() {
  if (!helper_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (Shard& shard : shards_) shard.queue.clear();
    waiting_ = 0;
  }
  changed_.notify_all();
  helper_.join();
}

void Shards::hand(size_t index) {
  if (!helper_.joinable()) {
    for (const Touch& touch : filling_[index]) shards_[index].table->add(touch);
    filling_[index].clear();
    return;
  }
  std::unique_lock lock(mutex_);
  while (waiting_ >= kBatches && !failure_)
    if (!step(lock)) changed_.wait(lock);
  std::vector<Touch> fresh;
  if (!spare_.empty()) {
    fresh = std::move(spare_.back());
    spare_.pop_back();
  }
  shards_[index].queue.push_back(std::move(filling_[index]));
  ++waiting_;
  lock.unlock();
  changed_.notify_all();
  fresh.reserve(kBatch);
  filling_[index] = std::move(fresh);
}

bool Shards::step(std::unique_lock<std::mutex>& lock) {
  for (size_t i = 0; i < kShards; ++i) {
    Shard& shard = shards_[(next_ + i) % kShards];
    if (shard.busy || shard.queue.empty()) continue;
    next_ = (next_ + i + 1) % kShards;
    std::vector<Touch> batch = std::move(shard.queue.front());
    shard.queue.pop_front();
    --waiting_;
    shard.busy = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      for (const Touch& touch : batch) shard.table->add(touch);
    } catch (...) {  // out of memory, most likely; finish() throws it
      failure = std::current_exception();
    }
    batch.clear();
    lock.lock();
    shard.busy = false;
    if (failure && !failure_) failure_ = failure;
    spare_.push_back(std::move(batch));
    changed_.notify_all();
    return true;
  }
  return false;
}

bool Shards::idle() const {
  return waiting_ == 0 &&
         std::none_of(shards_.begin(), shards_.end(), [](const Shard& shard) { return shard.busy; });
}

void Shards::work() {
  std::unique_lock lock(mutex_);
  while (!ending_)
    if (!step(lock)) changed_.wait(lock);
}

void Shards::finish() {
  for (size_t index = 0; index < kShards; ++index) {
    if (!filling_[index].empty()) hand(index);
    filling_[index] = {};
  }
  if (!helper_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    while (!idle() && !failure_)
      if (!step(lock)) changed_.wait(lock);
    ending_ = true;
  }
  changed_.notify_all();
  helper_.join();
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace cacheline::c2c
