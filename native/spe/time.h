// From ticks of the generic timer to the recording's clock.
#pragma once

#include <cstdint>

namespace cacheline::spe {

/// The record TIME_CONV of a perf.data file; as in struct perf_event_mmap_page, whose comments hold the
/// formula.
struct TimeConversion {
  uint64_t shift = 0, mult = 0, zero = 0;
  uint64_t cycles = 0, mask = 0;  ///< of cap_user_time_short: the counter is narrower than 64 bits
  bool shortCounter = false;      ///< cap_user_time_short

  /// What a kernel writes. A greater shift would overflow 64 bits.
  bool valid() const { return mult != 0 && mult <= UINT32_MAX && shift <= 32; }

  /// Nanoseconds of the recording's clock. Needs valid().
  uint64_t time(uint64_t ticks) const {
    if (shortCounter) ticks = cycles + ((ticks - cycles) & mask);
    const uint64_t whole = ticks >> shift, rest = ticks & ((uint64_t{1} << shift) - 1);
    return zero + whole * mult + ((rest * mult) >> shift);
  }
};

}  // namespace cacheline::spe
