// Memory samples to touches.
#include "c2c/collector.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <utility>

namespace cacheline::c2c {

namespace {

/// After AccessTable::finish().
LineTotal totalOf(const Line& line) {
  return {line.offset, line.space, line.loads, line.locked, line.blocked, line.tally.counts()};
}

}  // namespace

Collector::Collector(const perfdata::Features& features, const analysis::Meta& meta,
                     const analysis::Timeline& known, const Options& options, uint32_t lineSize,
                     std::optional<RowAddresses> rows, const heap::Allocations* allocations)
    : timeline(known),
      binaries(features, meta, options.symbols),
      kernel(std::make_unique<analysis::KernelCode>(features, binaries)),
      cpuNodes(features.numaNodes),
      memoryNodes(features.memoryNodes),
      table(lineSize, places.placements(), memoryNodes, options.threads),
      typed(binaries, options.threads > 1),
      blocks(allocations, timeline, binaries),
      options_(options),
      lineSize_(lineSize),
      rows_(std::move(rows)),
      registersOfX86_(features.arch == "x86_64"),
      hasAllocations_(allocations != nullptr) {
  for (const perfdata::Mmap& record : timeline.kernelMappings()) kernel->onMmap(record);
  for (const perfdata::Ksymbol& record : timeline.kernelSymbols()) kernel->onKsymbol(record);
  for (unsigned i = 0; i < std::max(options.threads, 1u); ++i) {
    workers_.push_back(
        std::make_unique<SampleWorker>(lookups_, features, options, lineSize, rows_ ? &*rows_ : nullptr));
    visitors_.push_back(workers_.back().get());
  }
}

uint32_t Collector::groupOf(const perfdata::Sample& sample, uint32_t site) {
  const analysis::Coalesce& by = options_.coalesce;
  GroupKey key;
  if (by.iaddr) key.ip = places.site(site).address;
  if (by.pid) key.pid = sample.pid;
  if (by.tid) key.tid = sample.tid;
  if (by.dso) key.dso = places.site(site).backing;
  return groups_.try_emplace(key, static_cast<uint32_t>(groups_.size())).first->second;
}

void Collector::addCallers(const perfdata::Sample& sample, const analysis::AddressSpace& space, uint32_t site,
                           bool hitm) {
  frames_.clear();
  analysis::CallerTable::eachCall(sample.callchain, [&](uint64_t address, bool isKernel) {
    frames_.push_back(workers_.front()->codeAt(space, address, isKernel, false).site);
  });
  if (!frames_.empty()) callers.add(site, frames_, hitm);
}

void Collector::onSample(const perfdata::Sample& sample) {
  constexpr size_t kMostWaiting = 8192;
  if (!windowsBegan_) beginWindows(sample.time);
  lastTime_ = std::max(lastTime_, sample.time);  // times of a damaged file may go back; runs must not
  SampleWorker& worker = *workers_.front();
  if (sample.registers.mask != 0 && registersOfX86_) {
    stacks.seen(worker.spaceOf(sample), threads.index(sample.pid, sample.tid), sample.moment,
                sample.registers);
  }
  Touch* const touch = worker.add(sample);
  if (touch == nullptr) return;
  touch->time = lastTime_;
  touch->order = static_cast<uint32_t>(++samples_);
  if (!options_.coalesce.onlyCode()) touch->group = groupOf(sample, touch->site);
  if (options_.callers && !sample.callchain.empty()) {
    const SourceClass& source = *touch->source;
    addCallers(sample, worker.spaceOf(sample), touch->site,
               (source.at(Counter::localHitm) | source.at(Counter::remoteHitm)) != 0);
  }
  if (sample.registers.mask != 0 || hasAllocations_) vote(sample, *touch);
  if (worker.touches().size() >= kMostWaiting) ordered();
}

void Collector::beginWindows(uint64_t time) {
  windowsBegan_ = true;
  for (const auto& worker : workers_) worker->beginWindows(time);
}

bool Collector::isNamed(uint32_t region, uint64_t lineAddress) {
  if (!names.hasSymbols(region)) return false;
  const auto [known, isNew] = named_.try_emplace({lineAddress, region}, false);
  if (isNew) known.value() = names.isNamed(region, lineAddress, lineSize_);
  return known->second;
}

/// What symbols name needs no votes. Whether the kernel's data has some is asked when all is known of it.
bool Collector::isVotedFor(const Placement& place, uint64_t address) {
  if (isKernelAddress(address)) return true;
  return place.region != analysis::kNone && !isNamed(place.region, address & ~uint64_t{lineSize_ - 1});
}

/// Goroutines' stacks lie among the heap's blocks.
bool Collector::isOnOwnStack(const perfdata::Sample& sample) {
  if (!registersOfX86_) return false;
  const analysis::AddressSpace& space = workers_.front()->spaceOf(sample);
  const analysis::Mapping* mapping = space.find(sample.address, space.dataHint);
  return mapping != nullptr && analysis::isOwnStack(*mapping, sample.address, sample.registers) &&
         !names.isGo(space);
}

void Collector::vote(const perfdata::Sample& sample, const Touch& touch) {
  const Placement& place = places.placements()[touch.placement];
  if (!isVotedFor(place, sample.address)) return;
  const analysis::Position position{place.space, touch.offset};
  if (sample.registers.mask != 0) {
    registerVotes_.add(sample, touch.site, position);
    if (isOnOwnStack(sample)) stackLines_.try_emplace({touch.offset & ~uint64_t{lineSize_ - 1}, place.space});
  }
  // By its own time, also where those of a damaged file go back. The kernel's data is in no block.
  if (hasAllocations_ && perfdata::isTime(sample.time) && !isKernelAddress(sample.address))
    blocks.add(workers_.front()->spaceOf(sample), position, sample.address, sample.time, touch.site);
}

void Collector::ordered() {
  std::vector<const TouchLists*> lists;
  for (const auto& worker : workers_) lists.push_back(&worker->touches());
  table.add(lists);
  for (const auto& worker : workers_) worker->touches().clear();
}

Totals Collector::totals() const {
  Totals totals;
  for (const auto& worker : workers_) totals.add(worker->totals());
  return totals;
}

void Collector::finish() {
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

void Collector::eachTotal(const std::function<void(const LineTotal&)>& visit) const {
  if (!rows_) return table.eachLine([&](const Line& line) { visit(totalOf(line)); });
  const LineTotals& all = workers_.front()->lines();
  for (size_t i = 0; i < all.size(); ++i) visit(all[i]);
}

std::optional<RowAddresses> Collector::addressesOf(const LineChoice& choice) const {
  return c2c::addressesOf(workers_.front()->lines(), choice, places, lineSize_);
}

bool Collector::hasRowsOf(const LineChoice& choice) const {
  const LineTotals& all = workers_.front()->lines();  // none where there are rows of all
  for (size_t i = 0; i < all.size(); ++i) {
    const bool full = choice.full(all[i]);
    if (!full && !choice.bare(all[i])) continue;
    const uint32_t found = table.find(all[i].space, all[i].offset);
    if (found == kNone || totalOf(table.line(found)) != all[i]) return false;
    if (full && table.line(found).bare) return false;
  }
  return true;
}

void Collector::forgetSums() {
  for (const auto& worker : workers_) worker->forget();
}

}  // namespace cacheline::c2c
