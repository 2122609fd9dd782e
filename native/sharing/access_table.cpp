// The shards of the table of memory samples.
#include "sharing/access_table.h"

namespace cacheline::sharing {

AccessTable::AccessTable(uint32_t lineSize, const std::vector<Placement>& placements,
                         const MemoryNodes& memoryNodes, unsigned threads, const Logging& logging)
    : lineSize_(lineSize),
      orders_(std::max(threads, 1u)),
      queue_(threads, JobQueue<Job>::Behind::help, [this](unsigned worker, Job& job) { work(worker, job); }) {
  for (uint32_t i = 0; i < kShards; ++i)
    shards_[i] = std::make_unique<AccessShard>(lineSize, i, placements, memoryNodes, logging, pool_);
}

void AccessTable::work(unsigned worker, const Job& job) {
  AccessShard& shard = *shards_[job.shard];
  AccessOrder& order = orders_[worker];
  order.clear();
  for (const AccessLists* lists : job.accesses) order.add((*lists)[job.shard]);
  shard.add(order.sorted());
  if (job.last) shard.finish();
}

void AccessTable::add(std::span<const AccessLists* const> accesses) {
  for (uint32_t shard = 0; shard < kShards; ++shard) queue_.put({shard, accesses, false});
  queue_.finish();
}

void AccessTable::finish() {
  for (uint32_t shard = 0; shard < kShards; ++shard) queue_.put({shard, {}, true});
  queue_.finish();
}

void AccessTable::forget() {
  shards_ = {};
  pool_.clear();
}

size_t AccessTable::lines() const {
  size_t sum = 0;
  for (const auto& shard : shards_) sum += shard->lines();
  return sum;
}

uint32_t AccessTable::find(uint32_t space, uint64_t lineOffset) const {
  const uint32_t number = AccessLists::shardOf(lineOffset, space);
  const uint32_t at = shards_[number]->find(space, lineOffset);
  return at == kNone ? kNone : at * kShards + number;
}

}  // namespace cacheline::sharing
