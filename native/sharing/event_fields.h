// What the samples of a recording carry.
#pragma once

#include <algorithm>
#include <cstdint>

#include "perfdata/reader.h"

namespace cacheline::sharing {

/// Whether an event has all of these bits of sample_type.
inline bool hasBits(const perfdata::Reader& reader, uint64_t bits) {
  return std::any_of(reader.events().begin(), reader.events().end(), [bits](const perfdata::Event& event) {
    return (event.attr.sample_type & bits) == bits;
  });
}

}  // namespace cacheline::sharing
