// Sorted sets of sampled addresses.
#include "analysis/seen_code.h"

#include <algorithm>

namespace cacheline::analysis {

void SeenCode::onSample(const perfdata::Sample& sample) {
  found_.try_emplace(Key{sample.ip, sample.pid, sample.tid});
}

void SeenCode::finish() {
  sorted_.reserve(found_.size());
  for (const auto& [key, nothing] : found_) sorted_.push_back(key);
  found_ = {};
  std::sort(sorted_.begin(), sorted_.end(), [](const Key& a, const Key& b) { return a.order() < b.order(); });
}

bool SeenCode::contains(uint32_t pid, uint32_t tid, uint64_t from, uint64_t to) const {
  const Key first{from, pid, tid};
  const auto it = std::lower_bound(sorted_.begin(), sorted_.end(), first,
                                   [](const Key& a, const Key& b) { return a.order() < b.order(); });
  return it != sorted_.end() && it->pid == pid && it->tid == tid && it->ip < to;
}

}  // namespace cacheline::analysis
