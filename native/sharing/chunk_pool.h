// Memory for the chunks of many tables, side by side in huge pages.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "base/large_memory.h"

namespace cacheline::sharing {

class ChunkPool {
 public:
  /// Of what is taken at once, at most. Each table of each shard has a chunk that is not full.
  static constexpr size_t kLargest = 16 << 10;

  /// Zeroed, at the start of a cache line, good as long as the pool. Any thread may call it.
  void* take(size_t bytes);
  /// Gives everything back.
  void clear();

 private:
  std::mutex mutex_;
  std::vector<LargeMemory> regions_;
  size_t used_ = LargeMemory::kHugePage;  ///< of the last region, bytes
};

}  // namespace cacheline::sharing
