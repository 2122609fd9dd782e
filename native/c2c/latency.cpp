// Latencies: sixteen buckets for each power of two.
#include "c2c/latency.h"

#include <algorithm>
#include <bit>

namespace cacheline::c2c {

namespace {

constexpr uint32_t kFine = 32;       // values below have a bucket of their own
constexpr uint32_t kPerOctave = 16;  // from there on
constexpr int kFirstOctave = 5;      // log2(kFine)

uint32_t bucketOf(uint32_t value) {
  if (value < kFine) return value;
  const int octave = std::bit_width(value) - 1;
  const uint32_t within = (value >> (octave - 4)) & (kPerOctave - 1);
  return kFine + static_cast<uint32_t>(octave - kFirstOctave) * kPerOctave + within;
}

/// The middle of a bucket.
uint64_t valueOf(uint32_t bucket) {
  if (bucket < kFine) return bucket;
  const uint32_t octave = (bucket - kFine) / kPerOctave + kFirstOctave;
  const uint64_t width = uint64_t{1} << (octave - 4);
  return (uint64_t{1} << octave) + ((bucket - kFine) % kPerOctave) * width + (width - 1) / 2;
}

}  // namespace

void Latencies::add(uint64_t cycles) {
  const auto value = static_cast<uint32_t>(std::min<uint64_t>(cycles, ~uint32_t{0}));
  max_ = std::max(max_, value);
  if (++loads_ <= kExact) {
    values_.push_back(value);
    return;
  }
  if (loads_ == kExact + 1) toHistogram();
  count(bucketOf(value), 1);
}

void Latencies::add(const Latencies& other) {
  if (other.loads_ <= kExact) {
    for (const uint32_t value : other.values_) add(value);
    return;
  }
  if (loads_ <= kExact) toHistogram();
  max_ = std::max(max_, other.max_);
  loads_ += other.loads_;
  for (uint32_t i = 0; i < other.values_.size(); ++i)
    if (other.values_[i] != 0) count(other.first_ + i, other.values_[i]);
}

void Latencies::toHistogram() {
  std::vector<uint32_t> values;
  values.swap(values_);
  for (const uint32_t value : values) count(bucketOf(value), 1);
}

void Latencies::count(uint32_t bucket, uint32_t loads) {
  if (values_.empty()) first_ = bucket;
  if (bucket < first_) {
    values_.insert(values_.begin(), first_ - bucket, 0);
    first_ = bucket;
  }
  if (bucket - first_ >= values_.size()) values_.resize(bucket - first_ + 1);
  values_[bucket - first_] += loads;
}

uint64_t Latencies::at(uint64_t rank) const {
  for (uint32_t i = 0; i < values_.size(); ++i) {
    if (values_[i] >= rank) return std::min<uint64_t>(valueOf(first_ + i), max_);
    rank -= values_[i];
  }
  return max_;
}

Percentiles Latencies::percentiles() const {
  if (loads_ == 0) return {};
  const auto rank = [this](uint64_t percent) { return (loads_ * percent + 99) / 100; };
  if (loads_ > kExact) return {at(rank(50)), at(rank(95)), max_};
  std::vector<uint32_t> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  return {sorted[rank(50) - 1], sorted[rank(95) - 1], max_};
}

}  // namespace cacheline::c2c
