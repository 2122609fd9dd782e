// Latencies: sixteen buckets for each power of two.
#include "sharing/latency.h"

#include <algorithm>
#include <bit>

namespace cacheline::sharing {

namespace {

constexpr uint32_t kFine = 32;        // values below have a bucket of their own
constexpr uint32_t kPerOctave = 16;   // from there on
constexpr uint32_t kFirstOctave = 5;  // log2(kFine)

uint32_t clampedCycles(uint64_t cycles) {
  return static_cast<uint32_t>(std::min<uint64_t>(cycles, ~uint32_t{0}));
}

uint32_t bucketOf(uint32_t value) {
  if (value < kFine) return value;
  const auto octave = static_cast<uint32_t>(std::bit_width(value)) - 1;
  const uint32_t within = (value >> (octave - 4)) & (kPerOctave - 1);
  return kFine + (octave - kFirstOctave) * kPerOctave + within;
}
constexpr uint32_t kBuckets = kFine + (32 - kFirstOctave) * kPerOctave;

/// The middle of a bucket.
uint64_t valueOf(uint32_t bucket) {
  if (bucket < kFine) return bucket;
  const uint32_t octave = (bucket - kFine) / kPerOctave + kFirstOctave;
  const uint64_t width = uint64_t{1} << (octave - 4);
  return (uint64_t{1} << octave) + ((bucket - kFine) % kPerOctave) * width + (width - 1) / 2;
}

}  // namespace

uint32_t LatencyTable::blockOf(Latencies& row, size_t block) {
  if (row.blocks[block] == kNone) {
    row.blocks[block] = static_cast<uint32_t>(blocks_.size());
    blocks_.add();
  }
  return row.blocks[block];
}

void LatencyTable::add(Latencies& row, uint64_t cycles) {
  const uint32_t value = clampedCycles(cycles);
  row.max = std::max(row.max, value);
  if (row.loads < Latencies::kBlocks) {
    row.blocks[row.loads++] = value;
    return;
  }
  if (row.loads == Latencies::kBlocks) toBlock(row);
  if (row.loads < kExact) {
    blocks_[row.blocks[0]].loads[row.loads++] = value;
    return;
  }
  if (row.loads == kExact) toHistogram(row);
  ++row.loads;
  addToBucket(row, bucketOf(value));
}

void LatencyTable::addToBucket(Latencies& row, uint32_t bucket) {
  static_assert(Latencies::kBlocks * kBucketsOfBlock >= kBuckets);
  const uint32_t block = blockOf(row, bucket / kBucketsOfBlock);
  const uint32_t within = bucket % kBucketsOfBlock;
  if (++blocks_[block].counts[within] == 0) [[unlikely]]
    ++carries_[uint64_t{block} * kBucketsOfBlock + within];
}

uint64_t LatencyTable::countOf(uint32_t block, uint32_t bucket) const {
  uint64_t count = blocks_[block].counts[bucket];
  if (carries_.empty()) return count;
  const auto carry = carries_.find(uint64_t{block} * kBucketsOfBlock + bucket);
  return carry == carries_.end() ? count : count + (uint64_t{carry->second} << 16);
}

void LatencyTable::toBlock(Latencies& row) {
  const auto loads = row.blocks;
  row.blocks.fill(kNone);
  std::copy_n(loads.begin(), row.loads, blocks_[blockOf(row, 0)].loads.begin());
}

/// The loads themselves, of a row with at most kExact.
const uint32_t* LatencyTable::values(const Latencies& row) const {
  return row.loads <= Latencies::kBlocks ? row.blocks.data() : blocks_[row.blocks[0]].loads.data();
}

void LatencyTable::toHistogram(Latencies& row) {
  Block values{};
  std::swap(values, blocks_[blockOf(row, 0)]);
  for (uint32_t i = 0; i < row.loads; ++i) addToBucket(row, bucketOf(values.loads[i]));
}

void LatencyTable::prefetch(const Latencies& row, uint32_t cycles) const {
  if (row.loads <= Latencies::kBlocks) return;
  const bool exact = row.loads < kExact;
  const uint32_t bucket = exact ? 0 : bucketOf(cycles);
  const uint32_t block = row.blocks[bucket / kBucketsOfBlock];
  if (block == kNone) return;
  const Block& found = blocks_[block];
  __builtin_prefetch(exact ? static_cast<const void*>(&found.loads[row.loads])
                           : static_cast<const void*>(&found.counts[bucket % kBucketsOfBlock]),
                     1);
}

uint64_t LatencyTable::at(const Latencies& row, uint64_t rank) const {
  for (uint32_t block = 0; block < Latencies::kBlocks; ++block) {
    if (row.blocks[block] == kNone) continue;
    for (uint32_t i = 0; i < kBucketsOfBlock; ++i) {
      const uint64_t count = countOf(row.blocks[block], i);
      if (count >= rank) return std::min<uint64_t>(valueOf(block * kBucketsOfBlock + i), row.max);
      rank -= count;
    }
  }
  return row.max;
}

Percentiles LatencyTable::percentiles(const Latencies& row) const {
  if (row.loads == 0) return {};
  const auto rank = [&row](uint64_t percent) { return (row.loads * percent + 99) / 100; };
  if (row.loads > kExact) return {at(row, rank(50)), at(row, rank(95)), row.max};
  std::array<uint32_t, kExact> sorted{};
  std::copy_n(values(row), row.loads, sorted.begin());
  std::sort(sorted.begin(), sorted.begin() + row.loads);
  return {sorted[rank(50) - 1], sorted[rank(95) - 1], row.max};
}

}  // namespace cacheline::sharing
