// Whose stack an address lies in, by the stack pointers of samples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/address_space.h"
#include "analysis/data_names.h"
#include "analysis/interleave.h"
#include "analysis/report.h"
#include "analysis/thread_table.h"
#include "analysis/timeline.h"
#include "base/hash.h"
#include "base/registers.h"

namespace cacheline::analysis {

/// The main thread owns the stack that the kernel made for it. Another thread owns a mapping in which its
/// stack pointer was seen, and no other thread's while it lived, where that can hold one stack only (the
/// kernel reports neighbours as one mapping). In all other cases nobody is named.
class StackOwners {
 public:
  StackOwners(const Timeline& timeline, DataNames& names, ThreadTable& threads)
      : timeline_(timeline), names_(names), threads_(threads) {}

  /// A sample of `thread`, an index into the thread table, at a moment of `space`.
  void seen(const AddressSpace& space, uint32_t thread, const perfdata::Moment& moment,
            const Registers& registers) {
    if (!knows(space, thread, moment, registers)) look(space, thread, moment, registers);
  }
  /// Whether seen() would learn nothing; it then asks nobody else.
  bool knows(const AddressSpace& space, uint32_t thread, const perfdata::Moment& moment,
             const Registers& registers) const {
    if (!registers.has(kRegSp)) return true;
    if (slots_.size() <= thread) return false;
    const Slot& slot = slots_[thread];
    return slot.space == space.id && slot.generation == space.generation && slot.life->from <= moment &&
           moment < slot.life->until && registers.value[kRegSp] - slot.start < slot.size;
  }
  /// What another one, of the same timeline, names and threads, was told.
  void add(const StackOwners& other);

  /// When memory was accessed, ns.
  struct Span {
    uint64_t first = ~uint64_t{0}, last = 0;
    void add(const RunList& runs) {
      first = std::min(first, runs.start());
      last = std::max(last, runs.end());
    }
  };
  std::optional<StackOwner> of(uint32_t region, uint32_t pid, const Span& accessed) const;

 private:
  /// A mapping that the stack pointer of a thread was in.
  struct Stack {
    uint32_t thread = 0, space = 0;
    uint64_t from = 0, until = ~uint64_t{0};  ///< when it can be the thread's, ns
    bool single = false;                      ///< the mapping can hold one stack only
    bool wanders = false;  ///< the thread was in several mappings: coroutines, a signal's stack
    uint32_t region = 0;
    const ThreadLife* life = nullptr;
  };
  /// What was seen in the life of a thread.
  struct Seen {
    std::vector<uint32_t> stacks = {};     ///< index into stacks_
    HashMap<uint32_t, bool> regions = {};  ///< of these
  };
  /// Where a thread's stack pointer was last: most samples find it there again.
  struct Slot {
    uint32_t space = kNone, generation = 0;
    const ThreadLife* life = nullptr;
    uint64_t start = 0, size = 0;
  };
  struct SeenKey {
    const ThreadLife* life = nullptr;
    uint32_t thread = 0;
    bool operator==(const SeenKey&) const = default;
    size_t hash() const { return mix(reinterpret_cast<uintptr_t>(life), thread); }
  };
  void look(const AddressSpace& space, uint32_t thread, const perfdata::Moment& moment,
            const Registers& registers);
  void add(uint32_t space, uint32_t thread, const ThreadLife& life, uint32_t region, bool single);
  StackOwner named(uint32_t thread) const;

  const Timeline& timeline_;
  DataNames& names_;
  ThreadTable& threads_;
  std::vector<Slot> slots_;  ///< by thread
  HashMap<SeenKey, Seen> seen_;
  std::vector<Stack> stacks_;
  HashMap<uint32_t, std::vector<uint32_t>> byRegion_;  ///< index into stacks_
};

}  // namespace cacheline::analysis
