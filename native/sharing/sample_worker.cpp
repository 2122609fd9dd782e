// Memory samples to sums and accesses.
#include "sharing/sample_worker.h"

#include "perfdata/access_reader.h"

namespace cacheline::sharing {

SampleWorker::SampleWorker(Lookups& shared, const perfdata::Features& features, const Options& options,
                           uint32_t lineSize, const RowAddresses* rows,
                           const std::optional<Splitting>& splits)
    : shared_(shared),
      options_(options),
      filters_(options.filter.any()),
      byCode_(options.coalesce.onlyCode()),
      lineMask_(~uint64_t{lineSize - 1}),
      rows_(rows),
      cpuNodes_(features.numaNodes),
      accesses_(lineSize) {
  if (splits) unplaced.emplace(*splits);
}

void SampleWorker::onAccesses(perfdata::AccessReader& reader, const perfdata::Stretch& stretch) {
  since_ = stretch.since;
  reader.each(
      stretch, [this](const perfdata::AccessSample& sample) __attribute__((always_inline)) { take(sample); },
      [this](uint64_t ip, uint32_t tid) __attribute__((always_inline)) { expect(ip, tid); });
}

MemoryAccess* SampleWorker::add(const perfdata::Sample& sample) {
  since_ = sample.moment.time;
  return take(perfdata::AccessSample(sample));
}

Totals SampleWorker::totals() const {
  Totals totals = totals_;
  totals.cycles = weights_ != 0;
  totals.physical = physicals_ != 0;
  for (const SourceClass& source : classes_) {
    totals.tally.add(source, source.samples);
    if (!source.access || source.samples == 0) continue;
    totals.attributed += source.samples;
    totals.peer |= (source.at(Counter::localPeer) | source.at(Counter::remotePeer)) != 0;
  }
  return totals;
}

void SampleWorker::countUnplaced(const perfdata::AccessSample& sample, const SourceClass& source,
                                 uint32_t location, uint32_t thread) {
  const auto reason = source.load || source.store ? analysis::UnplacedReason::unmapped
                                                  : analysis::UnplacedReason::noMemoryOperand;
  unplaced->add(reason, location, thread, sample.cpu, sample.time, &classes_.withAddress(sample.dataSource));
}

void SampleWorker::findRunning(const perfdata::AccessSample& sample, Running& slot) {
  const analysis::AddressSpace& space = spaceOf(sample);
  // At the ends of its life two records of one time have an order.
  const uint64_t first = space.from.time + 1;
  const bool known = slot.pid == sample.pid && slot.tid == sample.tid && slot.version != 0;
  slot = {sample.pid,       sample.tid, slot.thread,
          versionOf(space), first,      std::max(space.until.time, first) - first};
  if (known) return;
  const std::lock_guard lock(shared_.mutex);
  slot.thread = shared_.threads.index(sample.pid, sample.tid);
}

const Places::Code& SampleWorker::findCode(const analysis::AddressSpace& space, uint64_t ip, bool kernelMode,
                                           bool exact) {
  const std::lock_guard lock(shared_.mutex);
  return codes_.add(ip, codeVersion(versionOf(versionOf(space), kernelMode), exact),
                    shared_.places.codeAt(space, ip, kernelMode, exact));
}

const DataPage& SampleWorker::findPage(const analysis::AddressSpace& space, uint64_t address,
                                       bool kernelMode) {
  const std::lock_guard lock(shared_.mutex);
  return pages_.add(address >> DataPage::kBits, versionOf(versionOf(space), kernelMode),
                    shared_.places.dataAt(space, address, kernelMode));
}

uint32_t SampleWorker::groupOf(const perfdata::AccessSample& sample, uint32_t location) {
  const analysis::Coalesce& by = options_.coalesce;
  GroupKey key;
  if (by.pid) key.pid = sample.pid;
  if (by.tid) key.tid = sample.tid;
  if (by.iaddr || by.dso) {
    const std::lock_guard lock(shared_.mutex);
    const SampledCode& code = shared_.places.location(location);
    if (by.iaddr) key.ip = code.address;
    if (by.dso) key.dso = code.backing;
  }
  const auto [known, isNew] = groups_.try_emplace(key, 0);
  if (isNew) {
    const std::lock_guard lock(shared_.mutex);
    known.value() =
        shared_.groups.try_emplace(key, static_cast<uint32_t>(shared_.groups.size())).first->second;
  }
  return known->second;
}

uint16_t SampleWorker::findNode(uint16_t cpu) {
  if (cpu == MemoryAccess::kNoCpu) return MemoryAccess::kNoNode;
  for (auto next = static_cast<uint32_t>(nodeOfCpu_.size()); next <= cpu; ++next)
    nodeOfCpu_.push_back(static_cast<uint16_t>(cpuNodes_.of(next).value_or(MemoryAccess::kNoNode)));
  return nodeOfCpu_[cpu];
}

}  // namespace cacheline::sharing
