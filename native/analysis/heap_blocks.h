// The recorded heap blocks that samples fell into, and who allocated them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/address_space.h"
#include "analysis/binaries.h"
#include "analysis/code_names.h"
#include "analysis/line_space.h"
#include "analysis/report.h"
#include "base/hash.h"
#include "heap/allocations.h"

namespace cacheline::analysis {

class HeapBlocks {
 public:
  /// `allocations` may be null: then there are no blocks.
  HeapBlocks(const heap::Allocations* allocations, const AddressSpaces& spaces, Binaries& binaries)
      : allocations_(allocations), spaces_(spaces), binaries_(binaries), names_(binaries) {}

  /// One sample. An address can be freed and allocated again: the samples of a place vote for its block.
  void add(const AddressSpace& space, Position position, uint64_t address, uint64_t time);

  struct CodePlace {
    uint32_t binary = kNone;
    uint64_t fileOffset = 0;  ///< in the call
  };
  struct Found {
    uint64_t address = 0;
    HeapBlock block;
    std::span<const CodePlace> stack;  ///< of the allocation, innermost first
  };
  /// The block that most samples at a place fell into.
  std::optional<Found> at(Position position);
  CodeNames& names() { return names_; }

 private:
  struct Key {
    uint64_t offset = 0;
    uint32_t space = 0;
    bool operator==(const Key&) const = default;
    size_t hash() const { return mix(offset, space); }
  };
  struct Vote {
    const heap::Block* block = nullptr;
    uint32_t stack = 0;  ///< index into stacks_
    uint32_t votes = 0;
  };
  struct Cell {
    uint32_t seen = 0;
    std::vector<Vote> votes;
  };
  uint32_t stackOf(const AddressSpace& space, uint32_t stack);
  void nameOrigin(const std::vector<CodePlace>& stack, HeapBlock& block);

  const heap::Allocations* allocations_;
  const AddressSpaces& spaces_;
  Binaries& binaries_;
  CodeNames names_;
  HashMap<Key, Cell> cells_;
  HashMap<uint64_t, uint32_t> stackIndex_;  ///< by address space and number of the stack
  std::vector<std::vector<CodePlace>> stacks_;
};

}  // namespace cacheline::analysis
