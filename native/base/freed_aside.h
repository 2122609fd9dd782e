// Memory freed beside other work.
#pragma once

#include <memory>
#include <utility>

#include "base/job_queue.h"

namespace cacheline {

/// What consists of very many parts takes a while to be freed: a second thread does it. The destructor waits
/// for that.
class FreedAside {
 public:
  /// `threads`: with one, take() frees.
  explicit FreedAside(unsigned threads) : queue_(threads, Queue::Behind::wait, drop) {}
  template <typename Thing>
  void take(Thing thing) {
    queue_.put(std::make_shared<Thing>(std::move(thing)));
  }

 private:
  using Queue = JobQueue<std::shared_ptr<void>>;
  static void drop(unsigned, std::shared_ptr<void>& thing) { thing.reset(); }

  Queue queue_;
};

}  // namespace cacheline
