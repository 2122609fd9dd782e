// The recorded heap blocks that samples fell into, and who allocated them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/binaries.h"
#include "analysis/code_names.h"
#include "analysis/line_space.h"
#include "analysis/report.h"
#include "analysis/timeline.h"
#include "base/hash.h"
#include "heap/allocations.h"

namespace cacheline::analysis {

class HeapBlocks {
 public:
  /// `allocations` may be null: then there are no blocks.
  HeapBlocks(const heap::Allocations* allocations, const Timeline& timeline, Binaries& binaries)
      : allocations_(allocations), timeline_(timeline), binaries_(binaries), names_(binaries) {}

  /// One sample of the instruction `location`; `time` in ns. An address can be freed and allocated again: the
  /// samples of a place and an instruction are evidence for their blocks. `samples`: for which it was chosen.
  void add(const AddressSpace& space, Position position, uint64_t address, uint64_t time, uint32_t location,
           uint32_t samples = 1);

  struct CodePlace {
    uint32_t binary = kNone;
    uint64_t fileOffset = 0;  ///< in the call
  };
  /// An object that the block must hold.
  struct Extent {
    uint64_t offset = 0;  ///< of the place in it
    uint64_t size = 0;    ///< bytes; 0: unknown
  };
  struct Found {
    uint64_t ahead = 0;  ///< bytes from the block's start to the place
    HeapBlock block;
    std::span<const CodePlace> stack;  ///< of the allocation, innermost first
    /// Where samples of the same instructions fell into other blocks, before or after: how many, and whose.
    std::string others;
    uint64_t allocated = 0, freed = 0;  ///< ns; of several: of the last one
    bool isThere(uint64_t first, uint64_t last) const { return allocated <= first && last < freed; }
  };
  /// The block that most samples of the instructions `locations` at a place fell into; where none of them was
  /// sampled there, those of all. Of blocks that hold `object`, where there is one.
  std::optional<Found> at(Position position, std::span<const uint32_t> locations,
                          std::optional<Extent> object = {});
  CodeNames& names() { return names_; }
  /// All recorded blocks by where they were allocated, in no order that means anything. `lineSize`: bytes.
  /// Empty: the recording has no blocks.
  std::optional<std::vector<HeapSite>> sites(uint32_t lineSize);

 private:
  using Key = AccessKey;
  /// For blocks of one size that the same call allocated, with the place at one distance from their starts.
  struct BlockEvidence {
    uint64_t size = 0, ahead = 0;  ///< bytes
    uint32_t stack = 0;            ///< index into stacks_
    uint32_t blocks = 0;           ///< one after the other
    uint64_t samples = 0;
    const heap::Block* last = nullptr;  ///< of them
    bool mapping = false;               ///< processes have theirs at the same time
    bool isSame(const BlockEvidence& other) const {
      return size == other.size && ahead == other.ahead && stack == other.stack && mapping == other.mapping;
    }
  };
  struct Evidence {
    uint64_t from = 0, until = 0;  ///< ns: while the block of `current` is there for sure
    uint32_t current = 0;          ///< index into candidates
    uint32_t unsure = 0;           ///< samples since then
    uint32_t waiting = 0;          ///< of those, the ones that the next look-up speaks for
    std::vector<BlockEvidence> candidates;
  };
  void lookUp(const AddressSpace& space, uint64_t address, uint64_t time, Evidence& evidence);
  std::vector<BlockEvidence> candidatesOf(Position position, std::span<const uint32_t> locations,
                                          bool& sampled);
  std::string othersOf(const std::vector<BlockEvidence>& candidates, const BlockEvidence& chosen);
  uint32_t stackOf(const AddressSpace& space, uint32_t stack);
  std::string incompleteness(uint64_t smallest) const;
  void nameOrigin(const std::vector<CodePlace>& stack, HeapBlock& block);

  const heap::Allocations* allocations_;
  const Timeline& timeline_;
  Binaries& binaries_;
  CodeNames names_;
  HashMap<Key, Evidence> evidence_;
  std::vector<Key> byPlace_;  ///< the keys of evidence_ by space and offset, once they are asked for
  HashMap<uint64_t, uint32_t> stackIndex_;  ///< by address space and number of the stack
  std::vector<std::vector<CodePlace>> stacks_;
};

}  // namespace cacheline::analysis
