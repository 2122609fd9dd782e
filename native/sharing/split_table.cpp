// Samples of rows by actor, CPU and time.
#include "sharing/split_table.h"

namespace cacheline::sharing {

void SplitTable::add(const Row& row, const MemoryAccess& access) {
  Key key{&row, access.actor, analysis::kNoSplit, analysis::kNoSplit};
  if (by_.cpus && access.cpu != MemoryAccess::kNoCpu) key.cpu = access.cpu;
  if (by_.bins) key.bin = by_.bins->of(access.time);
  const auto [known, isNew] = index_.try_emplace(key, static_cast<uint32_t>(counts_.size()));
  if (isNew) {
    uint32_t& first = first_.try_emplace(&row, SplitCounts::kNoNext).first.value();
    SplitCounts& fresh = counts_.emplace_back();
    fresh.actor = key.actor;
    fresh.cpu = key.cpu;
    fresh.bin = key.bin;
    fresh.next = first;
    first = known->second;
  }
  SplitCounts& counts = counts_[known->second];
  ++counts.samples;
  counts.loads += access.source->load ? 1 : 0;
  counts.stores += access.source->store ? 1 : 0;
  counts.misses += access.source->missed ? 1 : 0;
  counts.cycles += access.cycles;
  count(*access.source, counts.counts);
}

}  // namespace cacheline::sharing
