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
#include "base/hash.h"
#include "base/registers.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

/// The main thread owns the stack that the kernel made for it. Another thread owns a mapping in which its
/// stack pointer was seen, and no other thread's while it lived, where that can hold one stack only (the
/// kernel reports neighbours as one mapping). In all other cases nobody is named.
class StackOwners {
 public:
  StackOwners(DataNames& names, ThreadTable& threads) : names_(names), threads_(threads) {}

  /// A sample of `thread`, an index into the thread table.
  void seen(const AddressSpace& space, uint32_t thread, const Registers& registers) {
    if (!registers.has(kRegSp)) return;
    if (slots_.size() <= thread) slots_.resize(thread + size_t{1});
    const Slot& slot = slots_[thread];
    if (slot.space != space.id || slot.generation != space.generation || slot.changes != changes_ ||
        registers.value[kRegSp] - slot.start >= slot.size)
      look(space, thread, registers);
  }
  void onFork(const perfdata::Task& record);
  void onExit(const perfdata::Task& record);
  void onLost() { lost_ = true; }

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
  };
  struct Life {
    /// When a thread of the process ended the last time before, ns: its stack can be this one. Since then no
    /// other thread had it (and when a thread begins, the sampling agent tells late).
    uint64_t from = 0;
    std::vector<uint32_t> stacks = {};     ///< index into stacks_
    HashMap<uint32_t, bool> regions = {};  ///< of these
  };
  /// Where a thread's stack pointer was last: most samples find it there again.
  struct Slot {
    uint32_t space = kNone, generation = 0, changes = 0;
    uint64_t start = 0, size = 0;
  };
  static uint64_t key(uint32_t pid, uint32_t tid) { return (uint64_t{pid} << 32) | tid; }
  void look(const AddressSpace& space, uint32_t thread, const Registers& registers);
  void add(const AddressSpace& space, uint32_t thread, uint32_t region, bool single);
  StackOwner named(uint32_t thread) const;

  DataNames& names_;
  ThreadTable& threads_;
  std::vector<Slot> slots_;  ///< by thread
  uint32_t changes_ = 0;     ///< beginnings and ends of threads
  HashMap<uint64_t, Life> lives_;
  HashMap<uint32_t, uint64_t> lastEnd_;  ///< of a thread, ns, by process
  std::vector<Stack> stacks_;
  HashMap<uint32_t, std::vector<uint32_t>> byRegion_;  ///< index into stacks_
  bool lost_ = false;                                  ///< some of these may be missing
};

}  // namespace cacheline::analysis
