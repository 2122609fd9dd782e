// What samples say beside counts, read once it is known which rows there are: who called the code, which
// objects it had in its registers, in which heap blocks the places lay, whose stacks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/caller_table.h"
#include "analysis/stack_owners.h"
#include "perfdata/reader.h"
#include "sharing/memory_collector.h"
#include "sharing/register_evidence.h"
#include "sharing/sample_worker.h"

namespace cacheline::sharing {

/// Callers and stacks are of all samples. Registers and blocks are asked for of some samples of each row: 16
/// and one in 64 of the others, drawn by a hash of the sample, so that nothing else decides which.
class RowEvidence : public perfdata::RecordVisitor {
 public:
  /// `collector`: after finish(); gets what is found. `windowStart`: see MemoryCollector::beginWindows().
  RowEvidence(MemoryCollector& collector, const perfdata::Features& features, const Options& options,
              uint32_t lineSize, uint64_t windowStart);
  ~RowEvidence() override;

  /// Whether a recording with such samples needs it.
  static bool isNeeded(uint64_t sampleTypes, const Options& options, bool hasAllocations);

  /// Of samples, one a thread: options.threads.
  std::span<perfdata::AccessVisitor* const> workers() const { return visitors_; }
  /// In time order, in place of the workers.
  void onSample(const perfdata::Sample& sample) override;
  /// No sample that comes is older than one that came.
  void ordered();
  /// After the last sample.
  void finish();

 private:
  class Worker;
  /// A sample that was chosen.
  struct Chosen {
    perfdata::Sample sample;  ///< without what points into the file
    analysis::Position position;
    uint32_t region = 0, location = 0;
    uint32_t samples = 1;  ///< for which it was chosen
  };
  void use(const Chosen& chosen);
  bool isOnOwnStack(const perfdata::Sample& sample);

  MemoryCollector& collector_;
  const uint32_t lineSize_;
  RegisterEvidence registerEvidence_;
  analysis::AddressSpaces spaces_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<perfdata::AccessVisitor*> visitors_;  ///< the same
  std::vector<Chosen> chosen_;                      ///< of the workers, at ordered()
};

}  // namespace cacheline::sharing
