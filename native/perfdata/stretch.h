// Some records of a file.
#pragma once

#include <cstdint>

namespace cacheline::perfdata {

/// Whole records, one after the other, from `at` to `end`.
struct Stretch {
  const uint8_t *at = nullptr, *end = nullptr;
  uint64_t since = 0;  ///< Moment::time of those without a time, ns
};

}  // namespace cacheline::perfdata
