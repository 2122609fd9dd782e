// perf_event_attr as a file holds it: of any length from the first published one on, in either byte order.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <span>

#include "perfdata/bytes.h"

namespace cacheline::perfdata {

/// What the attribute at the start of `bytes` says of its own size, in bytes. `bytes` holds at least
/// PERF_ATTR_SIZE_VER0 of them.
uint32_t attrSizeOf(std::span<const uint8_t> bytes, ByteOrder order);

/// The attribute of which `bytes` is everything: zero-extended where it is shorter than the one known here,
/// cut where it is longer. In the other byte order its flags stand in the opposite order of bits, too.
perf_event_attr readAttr(std::span<const uint8_t> bytes, ByteOrder order);

}  // namespace cacheline::perfdata
