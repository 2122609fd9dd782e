// Threads as dense indices, with the names they carried last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

struct Thread {
  uint32_t pid = 0, tid = 0;
  std::string comm;  ///< empty: no COMM record named it or an ancestor
};

class ThreadTable {
 public:
  void onComm(const perfdata::Comm& record);
  void onFork(const perfdata::Task& record);  ///< the child has its parent's name

  /// Of a sampled thread. (pid, tid) names it: what reuses both numbers is counted with it.
  uint32_t index(uint32_t pid, uint32_t tid);
  const Thread& operator[](uint32_t index) const { return threads_[index]; }
  size_t size() const { return threads_.size(); }

 private:
  static uint64_t key(uint32_t pid, uint32_t tid) { return (uint64_t{pid} << 32) | tid; }
  /// Names by tid, also of who has ended: the kernel's work for them can be sampled later.
  HashMap<uint32_t, std::string> names_;
  HashMap<uint64_t, uint32_t> index_;
  std::vector<Thread> threads_;
};

}  // namespace cacheline::analysis
