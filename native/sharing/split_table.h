// The samples of the table's rows, told apart by actor, CPU and part of the time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/splits.h"
#include "base/hash.h"
#include "sharing/data_source.h"
#include "sharing/memory_access.h"

namespace cacheline::sharing {

struct Row;

/// By what samples are told apart.
struct Splitting {
  bool cpus = false;
  std::optional<analysis::TimeBins> bins = {};
};

/// What one actor did at one row, on one CPU in one part of the time.
struct SplitCounts {
  uint32_t actor = 0, cpu = analysis::kNoSplit, bin = analysis::kNoSplit;
  uint32_t next = kNoNext;  ///< of the same row
  uint64_t samples = 0, loads = 0, stores = 0;
  uint64_t misses = 0;  ///< of memory samples, see SourceClass::missed
  uint64_t cycles = 0;  ///< as those of the accesses
  RowCounts counts{};
  static constexpr uint32_t kNoNext = ~uint32_t{0};
};

class SplitTable {
 public:
  explicit SplitTable(const Splitting& by) : by_(by) {}
  /// Rows stay where they are.
  void add(const Row& row, const MemoryAccess& access);
  /// Of a row, in no order that means anything.
  template <typename Visit>
  void each(const Row& row, Visit&& visit) const {
    const auto first = first_.find(&row);
    if (first == first_.end()) return;
    for (uint32_t at = first->second; at != SplitCounts::kNoNext; at = counts_[at].next) visit(counts_[at]);
  }

 private:
  struct Key {
    const Row* row;
    uint32_t actor, cpu, bin;
    bool operator==(const Key&) const = default;
    size_t hash() const {
      return mix(mix(reinterpret_cast<uintptr_t>(row), actor), (uint64_t{cpu} << 32) | bin);
    }
  };
  struct RowHash {
    size_t operator()(const Row* row) const { return mix(reinterpret_cast<uintptr_t>(row), uint64_t{0}); }
  };
  const Splitting by_;
  std::vector<SplitCounts> counts_;
  HashMap<Key, uint32_t> index_;
  tsl::robin_map<const Row*, uint32_t, RowHash> first_;
};

}  // namespace cacheline::sharing
