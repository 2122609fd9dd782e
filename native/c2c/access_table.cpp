// The shards of the table of memory samples.
#include "c2c/access_table.h"

#include <bit>

namespace cacheline::c2c {

AccessTable::AccessTable(uint32_t lineSize, unsigned threads)
    : lineSize_(lineSize), queue_(threads, [this](const TouchQueue::Job& job) {
        shards_[job.shard]->add({job.buffer.touches.get(), job.buffer.count});
        if (job.last) shards_[job.shard]->finish();
      }) {
  for (uint32_t i = 0; i < kShards; ++i) shards_[i] = std::make_unique<AccessShard>(lineSize, i, pool_);
}

void AccessTable::put(uint32_t shard) {
  queue_.put(shard, buffers_[shard]);
}

void AccessTable::finish() {
  for (uint32_t i = 0; i < kShards; ++i) queue_.put(i, buffers_[i], true);
  queue_.finish();
}

size_t AccessTable::lines() const {
  size_t sum = 0;
  for (const auto& shard : shards_) sum += shard->lines();
  return sum;
}

uint32_t AccessTable::find(uint32_t space, uint64_t lineOffset) const {
  const uint32_t number = shardOf(lineOffset, space);
  const uint32_t at = shards_[number]->find(space, lineOffset);
  return at == kNone ? kNone : at * kShards + number;
}

}  // namespace cacheline::c2c
