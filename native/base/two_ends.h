// A list that one thread works off from its start, and another one from its end where it has the time.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>

namespace cacheline {

class TwoEnds {
 public:
  /// Calls `each(index)` for all of `count` items, but for those that help() takes meanwhile. Returns when
  /// all are done, or throws what `each` threw.
  template <typename Each>
  void work(size_t count, Each&& each) {
    {
      const std::lock_guard lock(mutex_);
      next_ = 0;
      end_ = count;
    }
    const Leaving leaving{*this};
    while (const auto part = take(true))
      for (size_t i = part->first; i < part->second; ++i) each(i);
  }
  /// For a second thread: the same from the end on, until no item is left to begin with. Nothing where the
  /// first one is not at work. What it threw, an item may be left out.
  template <typename Each>
  void help(Each&& each) {
    while (const auto part = take(false)) {
      const Done done{*this};
      for (size_t i = part->first; i < part->second; ++i) each(i);
    }
  }

 private:
  static constexpr size_t kPart = 8;
  using Part = std::pair<size_t, size_t>;
  /// Nobody begins with anything any more, and the helper is done.
  struct Leaving {
    TwoEnds& ends;
    ~Leaving() {
      std::unique_lock lock(ends.mutex_);
      ends.next_ = ends.end_;
      ends.changed_.wait(lock, [this] { return !ends.helped_; });
    }
  };
  struct Done {
    TwoEnds& ends;
    ~Done() {
      const std::lock_guard lock(ends.mutex_);
      ends.helped_ = false;
      ends.changed_.notify_all();
    }
  };

  std::optional<Part> take(bool first) {
    const std::lock_guard lock(mutex_);
    const size_t size = std::min(kPart, end_ - next_);
    if (size == 0) return std::nullopt;
    helped_ |= !first;
    const size_t begin = first ? next_ : end_ -= size;
    if (first) next_ += size;
    return Part(begin, begin + size);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  // Under the mutex:
  size_t next_ = 0, end_ = 0;
  bool helped_ = false;  ///< the helper has a part
};

}  // namespace cacheline
