// Threads and their names.
#include "analysis/thread_table.h"

namespace cacheline::analysis {

void ThreadTable::onComm(const perfdata::Comm& record) {
  names_[record.tid] = std::string(record.name);
  if (const auto it = index_.find(key(record.pid, record.tid)); it != index_.end())
    threads_[it->second].comm = std::string(record.name);
}

void ThreadTable::onFork(const perfdata::Task& record) {
  const auto parent = names_.find(record.parentTid);
  if (parent == names_.end()) {  // and what had the number before is no longer meant
    names_.erase(record.tid);
    return;
  }
  const std::string name = parent->second;  // the insertion below may move it
  names_[record.tid] = name;
}

uint32_t ThreadTable::index(uint32_t pid, uint32_t tid) {
  const auto [it, added] = index_.try_emplace(key(pid, tid), static_cast<uint32_t>(threads_.size()));
  if (added) {
    const auto name = names_.find(tid);
    threads_.push_back({pid, tid, name == names_.end() ? std::string() : name->second});
  }
  return it->second;
}

}  // namespace cacheline::analysis
