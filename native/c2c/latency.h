// The distribution of load latencies of one row: exact while there are few, a histogram afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cacheline::c2c {

/// In core cycles. pN is the smallest value that at least N percent of the loads do not exceed.
struct Percentiles {
  uint64_t p50 = 0, p95 = 0, max = 0;
};

/// Percentiles are exact up to kExact loads; beyond that a value may be off by 1/32 (sixteen buckets an
/// octave, the middle of a bucket stands for it). The maximum is always exact. At most 2 KiB a row, whatever
/// the number of loads.
class Latencies {
 public:
  static constexpr size_t kExact = 64;

  /// Values above 2^32 - 1 cycles count as that.
  void add(uint64_t cycles);
  void add(const Latencies& other);
  /// Fetches where most of what add() touches is.
  void prefetch() const { __builtin_prefetch(values_.data() + values_.size() / 2, 1); }
  Percentiles percentiles() const;

 private:
  void toHistogram();
  void count(uint32_t bucket, uint32_t loads);
  uint64_t at(uint64_t rank) const;

  std::vector<uint32_t> values_;  ///< the loads themselves, or the counts of the buckets from first_ on
  uint64_t loads_ = 0;
  uint32_t max_ = 0;
  uint32_t first_ = 0;  ///< bucket of values_[0], once loads_ > kExact
};

}  // namespace cacheline::c2c
