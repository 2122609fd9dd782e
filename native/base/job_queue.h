// Work for other threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace cacheline {

/// One thread puts jobs in, others work on them, and begin them in the order they came.
template <typename Job>
class JobQueue {
 public:
  /// What the first thread does where the others fall behind.
  enum class Behind {
    help,  ///< works on jobs too: as many are worked on at a time as there are threads
    wait,  ///< no job begins before the one in front of it is done: there is one other thread
  };

  /// `work(worker, job)`: worker 0 is the first thread, the others count from 1. `threads`: with that one;
  /// where it is alone, put() does the work itself.
  JobQueue(unsigned threads, Behind behind, std::function<void(unsigned, Job&)> work)
      : work_(std::move(work)),
        helps_(behind == Behind::help),
        mostHelpers_(threads < 2 ? 0
                     : helps_    ? threads - 1
                                 : 1) {}
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;
  /// What is not done yet is dropped.
  ~JobQueue() {
    if (helpers_.empty()) return;
    {
      const Lock lock(mutex_);
      stop_ = true;
      jobs_.clear();
    }
    changed_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }

  /// Throws what `work` threw, once no other job is going on: jobs may use what the caller then gives up.
  void put(Job job) {
    if (mostHelpers_ == 0) return work_(0, job);
    Lock lock(mutex_);
    rethrow(lock);
    if (helpers_.size() < mostHelpers_)
      helpers_.emplace_back(
          [this, worker = static_cast<unsigned>(helpers_.size() + 1)] { workUntilStopped(worker); });
    jobs_.push_back(std::move(job));
    changed_.notify_all();
    keepUp(lock, kWaiting * mostHelpers_);
  }
  /// Returns when everything is done: until the next put() no work is going on. Throws as put() does.
  void finish() {
    Lock lock(mutex_);
    keepUp(lock, 0);
    waitForHelpers(lock);
    rethrow(lock);
  }

 private:
  using Lock = std::unique_lock<std::mutex>;
  static constexpr size_t kWaiting = 8;  ///< for each helper

  /// Until no more than so many jobs wait.
  void keepUp(Lock& lock, size_t waiting) {
    while (!failure_ && jobs_.size() > waiting) {
      if (helps_)
        workOnOne(lock, 0);
      else
        changed_.wait(lock);
    }
    rethrow(lock);
  }
  void workOnOne(Lock& lock, unsigned worker) {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      work_(worker, job);
    } catch (...) {  // thrown again by the first thread
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) {
      failure_ = failure;
      jobs_.clear();
    }
  }
  void workUntilStopped(unsigned worker) {
    Lock lock(mutex_);
    while (!stop_) {
      if (jobs_.empty() || failure_) {
        changed_.wait(lock);
        continue;
      }
      ++busy_;
      workOnOne(lock, worker);
      --busy_;
      changed_.notify_all();
    }
  }
  void waitForHelpers(Lock& lock) {
    while (busy_ > 0) changed_.wait(lock);
  }
  void rethrow(Lock& lock) {
    if (!failure_) return;
    waitForHelpers(lock);
    std::rethrow_exception(failure_);
  }

  const std::function<void(unsigned, Job&)> work_;
  const bool helps_;
  const unsigned mostHelpers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Under the mutex:
  std::deque<Job> jobs_;
  bool stop_ = false;
  unsigned busy_ = 0;  ///< helpers
  std::exception_ptr failure_;
  std::vector<std::thread> helpers_;
};

}  // namespace cacheline
