// What the readings of a recording leave behind, whatever evidence its samples are.
#pragma once

#include "analysis/binaries.h"
#include "analysis/data_names.h"
#include "analysis/heap_blocks.h"
#include "analysis/line_space.h"
#include "analysis/object_evidence.h"
#include "analysis/stack_owners.h"
#include "analysis/thread_table.h"
#include "analysis/timeline.h"
#include "analysis/typed_binaries.h"
#include "base/hash.h"
#include "sharing/access_table.h"
#include "sharing/memory_nodes.h"
#include "sharing/options.h"
#include "sharing/places.h"

namespace cacheline::sharing {

class Collected {
 public:
  Collected(const Collected&) = delete;
  Collected& operator=(const Collected&) = delete;

  /// A line that the stack pointer of a thread that accessed it was in the mapping of, below the access.
  void addStackLine(const analysis::Position& line) { stackLines_.try_emplace(line); }
  bool isStack(const Line& line) const { return stackLines_.contains({line.space, line.offset}); }

  const analysis::Timeline& timeline;
  analysis::Binaries binaries;
  analysis::ThreadTable threads{timeline};
  analysis::LineSpaces lineSpaces{timeline};
  analysis::DataNames names{binaries, timeline};
  analysis::StackOwners stacks{timeline, names, threads};
  Places places{timeline, lineSpaces, names};
  MemoryNodes memoryNodes;
  AccessTable table;
  analysis::TypedBinaries typed;
  analysis::ObjectEvidence objectEvidence{typed};
  analysis::HeapBlocks blocks;

 protected:
  /// `lineSize`: bytes, of the table. `allocations`: null where the recording has none. References are kept.
  Collected(const perfdata::Features& features, const analysis::Meta& meta, const analysis::Timeline& known,
            const Options& options, uint32_t lineSize, const heap::Allocations* allocations,
            const Logging& logging = {})
      : timeline(known),
        binaries(features, meta, options.symbols, options.kept),
        memoryNodes(features.memoryNodes),
        table(lineSize, places.placements(), memoryNodes, options.threads, logging),
        typed(binaries, options.threads > 1),
        blocks(allocations, timeline, binaries) {}
  ~Collected() = default;

 private:
  HashMap<analysis::Position, bool> stackLines_;
};

}  // namespace cacheline::sharing
