// Callers, registers, blocks and stacks of the rows.
#include "sharing/row_evidence.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <tuple>

#include "perfdata/access_reader.h"

namespace cacheline::sharing {

/// On one thread of ours.
class RowEvidence::Worker : public perfdata::AccessVisitor {
 public:
  Worker(MemoryCollector& collector, const perfdata::Features& features, const Options& options,
         uint32_t lineSize, uint64_t windowStart)
      : stacks(collector.timeline, collector.names, collector.threads),
        collector_(collector),
        placer_(collector.lookups(), features, options, lineSize, nullptr),
        callers_(options.callers),
        registersOfX86_(features.arch == "x86_64") {
    placer_.beginWindows(windowStart);
  }

  void onAccesses(perfdata::AccessReader& reader, const perfdata::Stretch& stretch) override {
    reader.eachSample(stretch, [this](const perfdata::Sample& sample) { add(sample); });
  }

  void add(const perfdata::Sample& sample) {
    constexpr size_t kPlaced = 1024;
    if (placer_.accesses().size() >= kPlaced) placer_.accesses().clear();
    if (sample.registers.mask != 0 && registersOfX86_) see(sample);
    const MemoryAccess* const access = placer_.add(sample);
    if (access == nullptr) return;
    if (callers_ && !sample.callchain.empty()) addCallers(sample, *access);
    if (sample.registers.mask != 0 || collector_.hasAllocations())
      choose(sample, *access, placementOf(*access));
  }

  std::vector<Chosen> chosen;
  analysis::CallerTable callers;
  analysis::StackOwners stacks;

 private:
  void see(const perfdata::Sample& sample) {
    const analysis::AddressSpace& space = placer_.spaceOf(sample);
    const uint32_t thread = placer_.threadOf(sample);
    if (stacks.knows(space, thread, sample.moment, sample.registers)) return;
    const std::lock_guard lock(collector_.lookups().mutex);
    stacks.seen(space, thread, sample.moment, sample.registers);
  }

  /// Keeps those that it asked for: others add to them all the time.
  const Placement& placementOf(const MemoryAccess& access) {
    if (access.placement >= placements_.size()) {
      const std::lock_guard lock(collector_.lookups().mutex);
      placements_ = collector_.places.placements();
    }
    return placements_[access.placement];
  }

  void addCallers(const perfdata::Sample& sample, const MemoryAccess& access) {
    const analysis::AddressSpace& space = placer_.spaceOf(sample);
    frames_.clear();
    analysis::CallerTable::eachCall(sample.callchain, [&](uint64_t address, bool isKernel) {
      frames_.push_back(placer_.codeAt(space, address, isKernel, false).location);
    });
    const SourceClass& source = *access.source;
    if (!frames_.empty())
      callers.add(access.location, frames_,
                  (source.at(Counter::localHitm) | source.at(Counter::remoteHitm)) != 0);
  }

  void choose(const perfdata::Sample& sample, const MemoryAccess& access, const Placement& placement) {
    const Row* const row = collector_.table.findRow(placement.space, access.offset, access.group);
    if (row == nullptr) return;
    constexpr uint64_t kFirst = 16, kThen = 64;
    const uint64_t all = collector_.table.samples(*row);
    const uint64_t wanted = all <= kFirst ? all : kFirst + all / kThen;
    const uint64_t draw = mix(mix(sample.time, sample.address), mix(sample.ip, sample.tid)) >> 32;
    if (draw * all >= wanted << 32) return;
    Chosen& one = chosen.emplace_back(Chosen{sample,
                                             {placement.space, access.offset},
                                             placement.region,
                                             access.location,
                                             static_cast<uint32_t>(all / std::max<uint64_t>(wanted, 1))});
    one.sample.callchain = {};
    one.sample.userStack = {};
  }

  MemoryCollector& collector_;
  SampleWorker placer_;
  std::vector<Placement> placements_;
  const bool callers_, registersOfX86_;
  std::vector<uint32_t> frames_;  ///< of the chain at hand
};

RowEvidence::RowEvidence(MemoryCollector& collector, const perfdata::Features& features,
                         const Options& options, uint32_t lineSize, uint64_t windowStart)
    : collector_(collector),
      lineSize_(lineSize),
      registerEvidence_(collector.binaries, *collector.kernel, collector.timeline, collector.places,
                        collector.objectEvidence),
      spaces_(collector.timeline) {
  for (unsigned i = 0; i < std::max(options.threads, 1u); ++i) {
    workers_.push_back(std::make_unique<Worker>(collector, features, options, lineSize, windowStart));
    visitors_.push_back(workers_.back().get());
  }
}

RowEvidence::~RowEvidence() = default;

bool RowEvidence::isNeeded(uint64_t sampleTypes, const Options& options, bool hasAllocations) {
  const uint64_t wanted =
      PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER | (options.callers ? uint64_t{PERF_SAMPLE_CALLCHAIN} : 0);
  return hasAllocations || (sampleTypes & wanted) != 0;
}

void RowEvidence::onSample(const perfdata::Sample& sample) {
  constexpr size_t kMostWaiting = 8192;
  workers_.front()->add(sample);
  if (workers_.front()->chosen.size() >= kMostWaiting) ordered();
}

void RowEvidence::ordered() {
  for (const auto& worker : workers_) {
    std::ranges::move(worker->chosen, std::back_inserter(chosen_));
    worker->chosen.clear();
  }
  std::stable_sort(chosen_.begin(), chosen_.end(), [](const Chosen& a, const Chosen& b) {
    return std::tie(a.sample.moment, a.sample.tid) < std::tie(b.sample.moment, b.sample.tid);
  });
  for (const Chosen& chosen : chosen_) use(chosen);
  chosen_.clear();
}

void RowEvidence::finish() {
  ordered();
  for (const auto& worker : workers_) {
    collector_.callers.add(worker->callers);
    collector_.stacks.add(worker->stacks);
  }
}

/// What symbols name needs no evidence. Whether the kernel's data has some is asked when all is known of it.
void RowEvidence::use(const Chosen& chosen) {
  const perfdata::Sample& sample = chosen.sample;
  const bool kernel = isKernelAddress(sample.address);
  const uint64_t lineMask = ~uint64_t{lineSize_ - 1};
  if (!kernel && (chosen.region == analysis::kNone ||
                  collector_.names.isNamed(chosen.region, sample.address & lineMask, lineSize_)))
    return;
  if (sample.registers.mask != 0) {
    registerEvidence_.add(sample, chosen.location, chosen.position, chosen.samples);
    if (isOnOwnStack(sample))
      collector_.addStackLine({chosen.position.space, chosen.position.offset & lineMask});
  }
  // By its own time, also where those of a damaged file go back. The kernel's data is in no block.
  if (collector_.hasAllocations() && perfdata::isTime(sample.time) && !kernel)
    collector_.blocks.add(spaces_.at(sample.pid, sample.moment), chosen.position, sample.address, sample.time,
                          chosen.location, chosen.samples);
}

/// Goroutines' stacks lie among the heap's blocks.
bool RowEvidence::isOnOwnStack(const perfdata::Sample& sample) {
  if (!collector_.registersOfX86()) return false;
  const analysis::AddressSpace& space = spaces_.at(sample.pid, sample.moment);
  const analysis::Mapping* mapping = space.find(sample.address, space.dataHint);
  return mapping != nullptr && analysis::isOwnStack(*mapping, sample.address, sample.registers) &&
         !collector_.names.isGo(space);
}

}  // namespace cacheline::sharing
