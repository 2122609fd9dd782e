// Memory samples to accesses.
#include "sharing/memory_collector.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <utility>

namespace cacheline::sharing {

namespace {

/// After AccessTable::finish().
LineTotal totalOf(const Line& line) {
  return {line.offset, line.space, line.loads, line.locked, line.blocked, line.tally.counts()};
}

}  // namespace

MemoryCollector::MemoryCollector(const perfdata::Features& features, const analysis::Meta& meta,
                                 const analysis::Timeline& known, const Options& options, uint32_t lineSize,
                                 std::optional<RowAddresses> rows, const heap::Allocations* allocations,
                                 const std::optional<Splitting>& splits)
    : Collected(features, meta, known, options, lineSize, allocations,
                {.fromStart = options.history, .splits = splits}),
      kernel(std::make_unique<analysis::KernelCode>(features, binaries)),
      cpuNodes(features.numaNodes),
      options_(options),
      lineSize_(lineSize),
      rows_(std::move(rows)),
      registersOfX86_(features.arch == "x86_64"),
      hasAllocations_(allocations != nullptr) {
  for (const perfdata::Mmap& record : timeline.kernelMappings()) kernel->onMmap(record);
  for (const perfdata::Ksymbol& record : timeline.kernelSymbols()) kernel->onKsymbol(record);
  for (unsigned i = 0; i < std::max(options.threads, 1u); ++i) {
    workers_.push_back(std::make_unique<SampleWorker>(lookups_, features, options, lineSize,
                                                      rows_ ? &*rows_ : nullptr, splits));
    visitors_.push_back(workers_.back().get());
  }
}

void MemoryCollector::onSample(const perfdata::Sample& sample) {
  constexpr size_t kMostWaiting = 8192;
  if (!windowsBegan_) beginWindows(sample.time);
  lastTime_ = std::max(lastTime_, sample.time);  // times of a damaged file may go back; runs must not
  SampleWorker& worker = *workers_.front();
  MemoryAccess* const access = worker.add(sample);
  if (access == nullptr) return;
  access->time = lastTime_;
  access->order = static_cast<uint32_t>(++samples_);
  if (worker.accesses().size() >= kMostWaiting) ordered();
}

void MemoryCollector::beginWindows(uint64_t time) {
  windowsBegan_ = true;
  windowStart_ = time;
  for (const auto& worker : workers_) worker->beginWindows(time);
}

void MemoryCollector::ordered() {
  std::vector<const AccessLists*> lists;
  for (const auto& worker : workers_) lists.push_back(&worker->accesses());
  table.add(lists);
  for (const auto& worker : workers_) worker->accesses().clear();
}

Totals MemoryCollector::totals() const {
  Totals totals;
  for (const auto& worker : workers_) totals.add(worker->totals());
  return totals;
}

std::optional<UnplacedTable> MemoryCollector::unplaced() const {
  std::optional<UnplacedTable> all = workers_.front()->unplaced;
  for (size_t i = 1; all && i < workers_.size(); ++i) all->add(*workers_[i]->unplaced);
  return all;
}

void MemoryCollector::finish() {
  ordered();
  table.finish();
  survey.totals = totals();
  if (!rows_) return table.eachLine([&](const Line& line) { survey.add(totalOf(line)); });
  for (const auto& worker : workers_) worker->lines().flush();
  LineTotals& all = workers_.front()->lines();
  for (size_t i = 1; i < workers_.size(); ++i) all.add(workers_[i]->lines());
  table.eachLine([&](const Line& line) { all.add(totalOf(line)); });
  for (size_t i = 0; i < all.size(); ++i) survey.add(all[i]);
}

void MemoryCollector::eachTotal(const std::function<void(const LineTotal&)>& visit) const {
  if (!rows_) return table.eachLine([&](const Line& line) { visit(totalOf(line)); });
  const LineTotals& all = workers_.front()->lines();
  for (size_t i = 0; i < all.size(); ++i) visit(all[i]);
}

std::optional<RowAddresses> MemoryCollector::addressesOf(const LineChoice& choice) const {
  return sharing::addressesOf(workers_.front()->lines(), choice, places, lineSize_);
}

bool MemoryCollector::hasRowsOf(const LineChoice& choice) const {
  const LineTotals& all = workers_.front()->lines();  // none where there are rows of all
  for (size_t i = 0; i < all.size(); ++i) {
    const bool full = choice.full(all[i]);
    if (!full && !choice.aggregateOnly(all[i])) continue;
    const uint32_t found = table.find(all[i].space, all[i].offset);
    if (found == kNone || totalOf(table.line(found)) != all[i]) return false;
    if (full && table.line(found).aggregateOnly) return false;
  }
  return true;
}

void MemoryCollector::forgetSums() {
  for (const auto& worker : workers_) worker->forget();
}

}  // namespace cacheline::sharing
