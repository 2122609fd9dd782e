// A sample on its way from the thread that read it into the table.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "sharing/data_source.h"

namespace cacheline::sharing {

/// Where one region of one process lies.
struct Placement {
  uint32_t space = 0;   ///< of lines
  uint32_t region = 0;  ///< what is mapped there, see analysis/data_names.h
  uint64_t delta = 0;   ///< position in the space - address
  bool operator==(const Placement&) const = default;
  size_t hash() const { return mix(delta, (uint64_t{space} << 32) | region); }
};

/// One sample's access to a line: of what reaches into the next line there is one for each. A cache line:
/// written by one thread, read by another.
struct alignas(64) MemoryAccess {
  uint64_t offset;    ///< position of its first byte in its space, see analysis/line_space.h
  uint64_t time;      ///< ns
  uint64_t physical;  ///< 0: unknown
  uint64_t cycles;    ///< of a clock sample: its period, ns
  const SourceClass* source;
  uint32_t order;      ///< two of equal time are ordered by it
  uint32_t placement;  ///< see Places
  uint32_t group;      ///< samples of one offset and one group make a row
  uint32_t location;   ///< the sampled instruction
  uint32_t actor;      ///< a thread (dense index), or a goroutine
  uint16_t cpu;
  uint16_t node : 15;          ///< of the CPU
  uint16_t aggregateOnly : 1;  ///< of its row only what sums need is asked for
  static constexpr uint16_t kNoNode = 0x7fff, kNoCpu = 0xffff;
};
static_assert(sizeof(MemoryAccess) == 64);

}  // namespace cacheline::sharing
