// Threads as dense indices, with the names they carried last.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/timeline.h"
#include "base/hash.h"

namespace cacheline::analysis {

struct Thread {
  uint32_t pid = 0, tid = 0;
  std::string comm;  ///< empty: no COMM record named it or an ancestor
};

class ThreadTable {
 public:
  explicit ThreadTable(const Timeline& timeline) : timeline_(timeline) {}

  /// Of a sampled thread. (pid, tid) names it: what reuses both numbers is counted with it.
  uint32_t index(uint32_t pid, uint32_t tid) {
    const uint32_t recent = recent_[tid % kRecent];
    if (recent < threads_.size() && threads_[recent].tid == tid && threads_[recent].pid == pid) return recent;
    return recent_[tid % kRecent] = find(pid, tid);
  }
  const Thread& operator[](uint32_t index) const { return threads_[index]; }
  size_t size() const { return threads_.size(); }

 private:
  static constexpr size_t kRecent = 256;
  uint32_t find(uint32_t pid, uint32_t tid) {
    const auto [it, added] =
        index_.try_emplace((uint64_t{pid} << 32) | tid, static_cast<uint32_t>(threads_.size()));
    if (added) threads_.push_back({pid, tid, timeline_.threadName(pid, tid)});
    return it->second;
  }

  const Timeline& timeline_;
  HashMap<uint64_t, uint32_t> index_;
  std::vector<Thread> threads_;
  std::array<uint32_t, kRecent> recent_{};  ///< indices, by tid
};

}  // namespace cacheline::analysis
