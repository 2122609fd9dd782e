// One reading of all samples in no order.
#include "perfdata/scan_pass.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "perfdata/record_header.h"

namespace cacheline::perfdata {

ScanPass::ScanPass(const Recording& recording, const SampleLayouts& layouts, const Outline& outline,
                   std::span<AccessVisitor* const> workers, const std::function<bool(double)>& progress,
                   const AddressFilter* filter)
    : recording_(recording),
      outline_(outline),
      progress_(progress),
      jobs_(static_cast<unsigned>(workers.size()), JobQueue<Job>::Behind::help,
            [this](unsigned worker, Job& job) {
              for (const Stretch& stretch : job)
                workers_[worker]->visitor.onAccesses(workers_[worker]->reader, stretch);
            }) {
  for (AccessVisitor* const visitor : workers)
    workers_.push_back(
        std::make_unique<Worker>(layouts, recording.files.front().bytes.data(), filter, *visitor));
}

bool ScanPass::run(const std::function<bool()>& ordered) {
  std::ptrdiff_t unordered = 0;
  for (const std::vector<Stretch>& batch : outline_.batches) {
    for (const Stretch& stretch : batch) {
      unordered += stretch.end - stretch.at;
      put(stretch);
    }
    if (unordered < kOrdered) continue;
    finishJobs();
    if (ordered && !ordered()) return false;
    unordered = 0;
  }
  finishJobs();
  return !ordered || ordered();
}

void ScanPass::put(const Stretch& stretch) {
  job_.push_back(stretch);
  jobBytes_ += stretch.end - stretch.at;
  if (jobBytes_ < kJob) return;
  read_ += std::exchange(jobBytes_, 0);
  jobs_.put(std::exchange(job_, {}));
  report();
}

void ScanPass::finishJobs() {
  if (!job_.empty()) jobs_.put(std::exchange(job_, {}));
  read_ += std::exchange(jobBytes_, 0);
  jobs_.finish();
}

void ScanPass::report() {
  const auto all = static_cast<std::ptrdiff_t>(recording_.files.front().data.size);
  if (!progress_ || read_ - reported_ < all / kProgressSteps) return;
  reported_ = read_;
  if (!progress_(static_cast<double>(read_) / static_cast<double>(all)))
    throw Error(ErrorKind::cancelled, "reading " + recording_.name() + " was cancelled");
}

uint64_t ScanPass::failures() const {
  uint64_t sum = 0;
  for (const auto& worker : workers_) sum += worker->reader.malformed + worker->reader.unknown;
  return sum;
}

}  // namespace cacheline::perfdata
