// Records that could not be delivered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace cacheline::perfdata {

/// How many, and where the first one of them is: "file offset 120".
struct ParseErrors {
  uint64_t count = 0;
  std::string first;
};

/// The same while reading.
struct Failures {
  uint64_t count = 0;
  const uint8_t* first = nullptr;  ///< the first one in memory
  void add(const uint8_t* at) { first = count++ == 0 ? at : std::min(first, at); }
};

/// Of the records that a pass had to deliver.
struct Undelivered {
  ParseErrors malformed;  ///< too short for what they hold
  ParseErrors unknown;    ///< samples with the id of no event
};

}  // namespace cacheline::perfdata
