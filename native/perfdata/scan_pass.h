// One reading of all samples of a recording, in no order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/job_queue.h"
#include "perfdata/access_reader.h"
#include "perfdata/outline.h"
#include "perfdata/recording.h"
#include "perfdata/sample_layout.h"
#include "perfdata/stretch.h"

namespace cacheline::perfdata {

/// The samples of a round are read a stretch of the file after the other, by several threads, instead of one
/// sample of this CPU and one of that.
class ScanPass {
 public:
  /// `workers`: get the samples, each on a thread of its own. `filter`: null delivers all samples.
  ScanPass(const Recording& recording, const SampleLayouts& layouts, const Outline& outline,
           std::span<AccessVisitor* const> workers, const std::function<bool(double)>& progress,
           const AddressFilter* filter);

  /// False where `ordered`, see Reader::scan(), ended it. Throws Error(cancelled) where `progress` says so.
  bool run(const std::function<bool()>& ordered);
  /// After run(): samples that could not be read.
  uint64_t failures() const;

 private:
  /// Bytes of samples from one call of `ordered` to the next, where the rounds are no longer.
  static constexpr std::ptrdiff_t kOrdered = 8 << 20;
  /// Waking a thread takes as long as reading some kilobytes: a job is more than that.
  static constexpr std::ptrdiff_t kJob = 128 << 10;
  using Job = std::vector<Stretch>;
  /// One visitor, with a reader of its own.
  struct Worker {
    Worker(const SampleLayouts& layouts, const uint8_t* start, const AddressFilter* filter, AccessVisitor& to)
        : reader(layouts, start, filter), visitor(to) {}
    AccessReader reader;
    AccessVisitor& visitor;
  };

  void put(const Stretch& stretch);
  void finishJobs();
  void report();

  const Recording& recording_;
  const Outline& outline_;
  const std::function<bool(double)>& progress_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::ptrdiff_t read_ = 0, reported_ = 0, jobBytes_ = 0;
  Job job_;             ///< the next one
  JobQueue<Job> jobs_;  ///< its threads end before the workers do
};

}  // namespace cacheline::perfdata
