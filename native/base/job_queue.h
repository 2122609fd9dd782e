// Work for a second thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace cacheline {

/// One thread puts jobs in, a second one works on them, in the order they came.
template <typename Job>
class JobQueue {
 public:
  /// What the first thread does where the second one falls behind.
  enum class Behind {
    help,  ///< works on jobs too: two are worked on at a time
    wait,  ///< no job begins before the one in front of it is done
  };

  /// `work(worker, job)`: worker 0 is the first thread, worker 1 the second one. `threads`: 1 or 2; with one,
  /// put() does the work itself.
  JobQueue(unsigned threads, Behind behind, std::function<void(unsigned, Job&)> work)
      : work_(std::move(work)), alone_(threads < 2), helps_(behind == Behind::help) {}
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;
  /// What is not done yet is dropped.
  ~JobQueue() {
    if (!helper_.joinable()) return;
    {
      const Lock lock(mutex_);
      stop_ = true;
      jobs_.clear();
    }
    changed_.notify_all();
    helper_.join();
  }

  /// Throws what `work` threw.
  void put(Job job) {
    if (alone_) return work_(0, job);
    Lock lock(mutex_);
    rethrow();
    if (!helper_.joinable()) helper_ = std::thread([this] { workUntilStopped(); });
    jobs_.push_back(std::move(job));
    changed_.notify_all();
    keepUp(lock, kWaiting);
  }
  /// Returns when everything is done: until the next put() no work is going on. Throws what `work` threw.
  void finish() {
    Lock lock(mutex_);
    keepUp(lock, 0);
    while (helperIsBusy_) changed_.wait(lock);
    rethrow();
  }

 private:
  using Lock = std::unique_lock<std::mutex>;
  static constexpr size_t kWaiting = 8;

  /// Until no more than so many jobs wait.
  void keepUp(Lock& lock, size_t waiting) {
    while (!failure_ && jobs_.size() > waiting) {
      if (helps_)
        workOnOne(lock, 0);
      else
        changed_.wait(lock);
    }
    rethrow();
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
  void workUntilStopped() {
    Lock lock(mutex_);
    while (!stop_) {
      helperIsBusy_ = !jobs_.empty() && !failure_;
      if (helperIsBusy_) workOnOne(lock, 1);
      changed_.notify_all();
      if (!helperIsBusy_) changed_.wait(lock);
    }
  }
  void rethrow() {
    if (failure_) std::rethrow_exception(failure_);
  }

  const std::function<void(unsigned, Job&)> work_;
  const bool alone_, helps_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Under the mutex:
  std::deque<Job> jobs_;
  bool stop_ = false, helperIsBusy_ = false;
  std::exception_ptr failure_;
  std::thread helper_;
};

}  // namespace cacheline
