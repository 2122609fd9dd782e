// A reading of a recording with data sources: samples become rows of the access table, or of many lines
// their sums only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/binaries.h"
#include "analysis/caller_table.h"
#include "analysis/cpu_nodes.h"
#include "analysis/data_names.h"
#include "analysis/heap_blocks.h"
#include "analysis/kernel_code.h"
#include "analysis/line_space.h"
#include "analysis/object_evidence.h"
#include "analysis/stack_owners.h"
#include "analysis/thread_table.h"
#include "analysis/timeline.h"
#include "c2c/access_table.h"
#include "c2c/data_source.h"
#include "c2c/memory_nodes.h"
#include "c2c/options.h"
#include "c2c/places.h"
#include "c2c/sample_worker.h"
#include "c2c/survey.h"
#include "perfdata/reader.h"

namespace cacheline::c2c {

/// Takes samples in time order; or its workers do, in less of an order.
class Collector : public perfdata::RecordVisitor {
 public:
  /// `lineSize`: bytes, a power of two; of a pair of lines where pairs are asked for. `rows`: of all other
  /// addresses there are sums of lines. nullopt: there will be full rows of all. `allocations`: null
  /// where the recording has none.
  Collector(const perfdata::Features& features, const analysis::Meta& meta,
            const analysis::Timeline& timeline, const Options& options, uint32_t lineSize,
            std::optional<RowAddresses> rows = {}, const heap::Allocations* allocations = nullptr);

  /// Of samples, one a thread: options.threads.
  std::span<perfdata::AccessVisitor* const> workers() const { return visitors_; }
  void onSample(const perfdata::Sample& sample) override;
  /// No sample that comes is older than one that came.
  void ordered();
  /// When the time windows of a filter begin, ns; by default with the first sample.
  void beginWindows(uint64_t time);
  uint64_t windowStart() const { return windowStart_; }
  /// After the last record.
  void finish();
  /// Whether symbols say what the whole line at `lineAddress` is. Opens the region's file.
  bool isNamed(uint32_t region, uint64_t lineAddress);
  /// Whether heap blocks were recorded.
  bool hasAllocations() const { return hasAllocations_; }
  bool registersOfX86() const { return registersOfX86_; }
  Lookups& lookups() { return lookups_; }
  /// A line that the stack pointer of a thread that accessed it was in the mapping of, below the place.
  void addStackLine(const analysis::Position& line) { stackLines_.try_emplace({line.offset, line.space}); }
  bool isStack(const Line& line) const { return stackLines_.contains({line.offset, line.space}); }
  /// Of the samples so far.
  Totals totals() const;
  /// After finish(): the sums of each line.
  void eachTotal(const std::function<void(const LineTotal&)>& visit) const;
  /// After finish(), where there are not rows of all: see c2c::addressesOf().
  std::optional<RowAddresses> addressesOf(const LineChoice& choice) const;
  /// After finish(): whether all samples of all lines that are chosen became such rows, or fuller ones.
  bool hasRowsOf(const LineChoice& choice) const;

  /// Frees what only readings need: the above, and what waits to become rows.
  void forgetSums();

  const analysis::Timeline& timeline;
  Survey survey;  ///< after finish()
  analysis::Binaries binaries;
  std::unique_ptr<analysis::KernelCode> kernel;
  analysis::ThreadTable threads{timeline};
  analysis::LineSpaces lineSpaces{timeline};
  analysis::DataNames names{binaries, timeline};
  analysis::StackOwners stacks{timeline, names, threads};
  Places places{timeline, lineSpaces, names};
  analysis::CpuNodes cpuNodes;
  MemoryNodes memoryNodes;
  AccessTable table;
  analysis::TypedBinaries typed;
  analysis::TypedBinaries typedAside{binaries};  ///< of a thread that helps
  analysis::ObjectEvidence votes{typed};
  analysis::HeapBlocks blocks;
  analysis::CallerTable callers;  ///< empty unless asked for, as `stacks` and `blocks`: see RowEvidence

 private:
  struct NamedKey {
    uint64_t lineAddress = 0;
    uint32_t region = 0;
    bool operator==(const NamedKey&) const = default;
    size_t hash() const { return mix(lineAddress, region); }
  };
  struct LineKey {
    uint64_t offset = 0;
    uint32_t space = 0;
    bool operator==(const LineKey&) const = default;
    size_t hash() const { return mix(offset, space); }
  };
  const Options& options_;
  const uint32_t lineSize_;
  const std::optional<RowAddresses> rows_;
  const bool registersOfX86_;
  const bool hasAllocations_;
  bool windowsBegan_ = false;
  uint64_t windowStart_ = 0;  ///< ns
  uint64_t lastTime_ = 0;     ///< of the samples so far, ns
  uint64_t samples_ = 0;
  Lookups lookups_{timeline, threads, places};
  std::vector<std::unique_ptr<SampleWorker>> workers_;  ///< samples in order go to the first one
  std::vector<perfdata::AccessVisitor*> visitors_;      ///< the same
  HashMap<NamedKey, bool> named_;
  HashMap<LineKey, bool> stackLines_;
};

}  // namespace cacheline::c2c
