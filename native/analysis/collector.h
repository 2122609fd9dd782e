// One pass over the samples of a clock recording: every one becomes a count in the sharing table or in
// `unattributed`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/attribution.h"
#include "analysis/binaries.h"
#include "analysis/blindness.h"
#include "analysis/data_names.h"
#include "analysis/heap_blocks.h"
#include "analysis/line_space.h"
#include "analysis/object_evidence.h"
#include "analysis/report.h"
#include "analysis/row_callers.h"
#include "analysis/sample_filter.h"
#include "analysis/seen_code.h"
#include "analysis/sharing_table.h"
#include "analysis/stack_owners.h"
#include "analysis/thread_table.h"
#include "analysis/timeline.h"
#include "analysis/visitors.h"
#include "analysis/watch_evidence.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

class Collector : public perfdata::RecordVisitor {
 public:
  /// `allocations`, `watched`: null where the recording has none. References are kept.
  Collector(const perfdata::Features& features, const Meta& meta, const Timeline& timeline,
            const SeenCode& seen, const AnalyzeOptions& options, const heap::Allocations* allocations,
            const WatchLog* watched);

  /// In time order.
  void onSample(const perfdata::Sample& sample) override;

  const Timeline& timeline;
  Binaries binaries;
  ThreadTable threads{timeline};
  LineSpaces lineSpaces{timeline};
  Attribution sites;
  DataNames names{binaries, timeline};
  StackOwners stacks{timeline, names, threads};
  SharingTable table;
  Visitors visitors;
  TypedBinaries typed{binaries};
  ObjectEvidence votes{typed};
  HeapBlocks blocks;
  std::optional<WatchEvidence> watch;
  std::optional<RowCallers> callers;  ///< empty: not asked for

  uint64_t samples = 0, attributed = 0;
  uint64_t filtered = 0;  ///< samples that the filter left out, and that are in no other count
  Unattributed unattributed;
  uint64_t loads = 0, stores = 0, locked = 0;  ///< of the attributed samples
  UnseenSamples unseen;                        ///< of unattributed: noInstruction, clobbered, unmapped
  uint64_t firstTime = 0, lastTime = 0;        ///< of samples, ns

 private:
  AddressSpaces spaces_{timeline};
  SampleFilter filter_;
  /// What the code says of data that symbols do not name.
  void vote(const MemoryAccess& touch, const CodeLocation& site, const Mapping& code,
            const perfdata::Sample& sample);
  /// Null, or the counter of the reason why the sample has no place in the table.
  uint64_t* attribute(const perfdata::Sample& sample);
};

}  // namespace cacheline::analysis
