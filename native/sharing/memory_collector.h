// A reading of a recording with data sources: samples become rows of the access table, or of many lines
// their sums only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/caller_table.h"
#include "analysis/cpu_nodes.h"
#include "analysis/kernel_code.h"
#include "perfdata/reader.h"
#include "sharing/collected.h"
#include "sharing/data_source.h"
#include "sharing/sample_worker.h"
#include "sharing/survey.h"

namespace cacheline::sharing {

/// Takes samples in time order; or its workers do, in less of an order.
class MemoryCollector : public perfdata::RecordVisitor, public Collected {
 public:
  /// `lineSize`: bytes, a power of two; of a pair of lines where pairs are asked for. `rows`: of all other
  /// addresses there are sums of lines. nullopt: there will be full rows of all. `allocations`: null
  /// where the recording has none.
  MemoryCollector(const perfdata::Features& features, const analysis::Meta& meta,
                  const analysis::Timeline& timeline, const Options& options, uint32_t lineSize,
                  std::optional<RowAddresses> rows = {}, const heap::Allocations* allocations = nullptr,
                  const std::optional<Splitting>& splits = {});

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
  /// Whether heap blocks were recorded.
  bool hasAllocations() const { return hasAllocations_; }
  bool registersOfX86() const { return registersOfX86_; }
  Lookups& lookups() { return lookups_; }
  /// Of the samples so far.
  Totals totals() const;
  /// After finish(): the sums of each line.
  void eachTotal(const std::function<void(const LineTotal&)>& visit) const;
  /// After finish(), where there are not rows of all: see sharing::addressesOf().
  std::optional<RowAddresses> addressesOf(const LineChoice& choice) const;
  /// After finish(): whether all samples of all lines that are chosen became such rows, or fuller ones.
  bool hasRowsOf(const LineChoice& choice) const;

  /// After finish(): samples without a place; empty: splits are not asked for.
  std::optional<UnplacedTable> unplaced() const;

  /// Frees what only readings need: the above, and what waits to become rows.
  void forgetSums();

  Survey survey;  ///< after finish()
  std::unique_ptr<analysis::KernelCode> kernel;
  analysis::CpuNodes cpuNodes;
  analysis::TypedBinaries typedAside{binaries};  ///< of a thread that helps
  analysis::CallerTable callers;  ///< empty unless asked for, as `stacks` and `blocks`: see RowEvidence

 private:
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
};

}  // namespace cacheline::sharing
