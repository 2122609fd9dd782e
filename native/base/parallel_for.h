// A loop on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cacheline {

/// Calls `each(index)` once for every index below `count`, on at most `threads` threads, this one included:
/// lower indexes begin first. `each` may write what belongs to its index alone, so that the result does not
/// depend on the number of threads. Returns when all are done. Throws what `each` threw first; indexes that
/// had not begun then are left out.
template <typename Each>
void parallelFor(size_t count, size_t threads, const Each& each) {
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;  // of `failure`
  const auto work = [&] {
    try {
      for (size_t index; (index = next++) < count;) each(index);
    } catch (...) {  // thrown again below
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < std::min(count, threads); ++i) others.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace cacheline
