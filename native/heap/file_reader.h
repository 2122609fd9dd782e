// The bytes of an `allocations` file as events in time order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "heap/format.h"

namespace cacheline::heap {

/// One record. `at` says where its words are; for the kinds see format.h.
struct Event {
  uint64_t time = 0;   ///< ns of the recording's clock
  uint32_t at = 0;     ///< index of its first word in FileContent::words
  uint32_t owner = 0;  ///< index into FileContent::owners
};

struct Owner {
  uint32_t pid = 0, tid = 0;
};

struct FileContent {
  std::span<const uint64_t> words;  ///< the whole file
  std::vector<Event> events;        ///< by time; those of one thread at one time in their order
  std::vector<Owner> owners;
  std::vector<std::vector<uint64_t>> stacks;  ///< [0] is the empty one
  HashMap<uint64_t, uint32_t> stackOfHash;    ///< index into stacks
  uint64_t sampling = 0, alwaysFrom = 0, blocks = 0, lost = 0, processes = 0;
  std::vector<std::string> warnings;

  /// Of enum heap_kind.
  uint64_t kind(const Event& event) const { return words[event.at] & 0xff; }
  uint64_t value(const Event& event) const { return words[event.at] >> (64 - HEAP_VALUE_BITS); }
  uint64_t size(const Event& event) const { return words[event.at + 2]; }
  uint64_t stackHash(const Event& event) const { return words[event.at + 3]; }
};

/// Never throws for what the bytes say: damage is a warning and costs the chunk's rest. `bytes` must outlive
/// the result and be aligned to 8; `name` is for the warnings.
FileContent readFile(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace cacheline::heap
