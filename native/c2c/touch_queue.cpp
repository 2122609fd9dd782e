// Work on shards by two threads.
#include "c2c/touch_queue.h"

#include <algorithm>
#include <utility>

namespace cacheline::c2c {

namespace {
/// Jobs that may wait before the reading thread helps.
constexpr size_t kWaiting = 16;
}  // namespace

TouchQueue::TouchQueue(unsigned threads, std::function<void(const Job&)> work)
    : work_(std::move(work)), alone_(threads < 2) {}

TouchQueue::~TouchQueue() {
  if (!helper_.joinable()) return;
  {
    const Lock lock(mutex_);
    stop_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  helper_.join();
}

void TouchQueue::put(uint32_t shard, Buffer& buffer, bool last) {
  if (alone_) {
    Job job{shard, last, std::move(buffer)};
    work_(job);
    buffer = std::move(job.buffer);
    buffer.count = 0;
    return;
  }
  Lock lock(mutex_);
  rethrow();
  if (!helper_.joinable()) helper_ = std::thread([this] { workUntilStopped(); });
  jobs_.push_back({shard, last, std::move(buffer)});
  if (spare_.empty()) {
    buffer = Buffer();
  } else {
    buffer = std::move(spare_.back());
    spare_.pop_back();
  }
  changed_.notify_all();
  while (jobs_.size() > kWaiting)
    if (!workOnOne(lock)) changed_.wait(lock);
  rethrow();
}

void TouchQueue::finish() {
  Lock lock(mutex_);
  const auto isIdle = [this] {
    return jobs_.empty() && std::none_of(busy_.begin(), busy_.end(), [](bool busy) { return busy; });
  };
  while (!isIdle())
    if (!workOnOne(lock)) changed_.wait(lock);
  rethrow();
}

/// The first job whose shard nobody works on: it is the oldest of its shard. False: there is none.
bool TouchQueue::workOnOne(Lock& lock) {
  const auto next =
      std::find_if(jobs_.begin(), jobs_.end(), [this](const Job& job) { return !busy_[job.shard]; });
  if (next == jobs_.end()) return false;
  Job job = std::move(*next);
  jobs_.erase(next);
  busy_[job.shard] = true;
  lock.unlock();
  std::exception_ptr failure;
  try {
    work_(job);
  } catch (...) {  // thrown again by the reading thread
    failure = std::current_exception();
  }
  job.buffer.count = 0;
  lock.lock();
  busy_[job.shard] = false;
  spare_.push_back(std::move(job.buffer));
  if (failure) {
    failure_ = failure;
    jobs_.clear();
  }
  changed_.notify_all();
  return true;
}

void TouchQueue::workUntilStopped() {
  Lock lock(mutex_);
  while (!stop_)
    if (!workOnOne(lock)) changed_.wait(lock);
}

void TouchQueue::rethrow() {
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace cacheline::c2c
