// Chunks cut from regions of a huge page each.
#include "sharing/chunk_pool.h"

namespace cacheline::sharing {

void* ChunkPool::take(size_t bytes) {
  constexpr size_t kLine = 64;
  const std::lock_guard lock(mutex_);
  if (used_ + bytes > LargeMemory::kHugePage) {
    // Small tables stay small: only what is larger than a region is worth a huge page.
    regions_.emplace_back(LargeMemory::kHugePage, !regions_.empty());
    used_ = 0;
  }
  void* const taken = static_cast<char*>(regions_.back().data()) + used_;
  used_ += (bytes + kLine - 1) / kLine * kLine;
  return taken;
}

void ChunkPool::clear() {
  regions_.clear();
  used_ = LargeMemory::kHugePage;
}

}  // namespace cacheline::sharing
