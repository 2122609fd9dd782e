// Numbers in the kernel's records (linux/perf_event.h), which may be cut short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace cacheline::record {

/// Zero where the record ends before.
template <typename Value>
Value fieldAt(std::span<const uint8_t> record, size_t offset) {
  Value value{};
  if (offset + sizeof value <= record.size()) std::memcpy(&value, record.data() + offset, sizeof value);
  return value;
}

}  // namespace cacheline::record
