// A bucket sort.
#include "sharing/access_order.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace cacheline::sharing {

std::span<const MemoryAccess* const> AccessOrder::sorted() {
  if (!std::is_sorted(keys_.begin(), keys_.end())) sort();
  accesses_.resize(keys_.size());
  std::transform(keys_.begin(), keys_.end(), accesses_.begin(), [](const Key& key) { return key.access; });
  return accesses_;
}

void AccessOrder::sort() {
  const auto [first, last] = std::minmax_element(keys_.begin(), keys_.end(),
                                                 [](const Key& a, const Key& b) { return a.time < b.time; });
  const uint64_t start = first->time;
  const auto shift = static_cast<int>(std::bit_width((last->time - start) / keys_.size()));
  const auto bucketOf = [=](const Key& key) { return static_cast<size_t>((key.time - start) >> shift); };
  ends_.assign(bucketOf(*last) + 1, 0);
  for (const Key& key : keys_) ++ends_[bucketOf(key)];
  uint32_t sum = 0;
  for (uint32_t& end : ends_) sum += std::exchange(end, sum);  // now its begin, and dealing moves it on
  spare_.resize(keys_.size());
  for (const Key& key : keys_) spare_[ends_[bucketOf(key)]++] = key;
  keys_.swap(spare_);
  uint32_t begin = 0;
  for (const uint32_t end : ends_) sortBucket(std::exchange(begin, end), end);
}

void AccessOrder::sortBucket(size_t begin, size_t end) {
  constexpr size_t kFew = 16;
  if (end - begin > kFew) return std::sort(keys_.begin() + begin, keys_.begin() + end);
  for (size_t i = begin + 1; i < end; ++i)
    for (size_t at = i; at > begin && keys_[at] < keys_[at - 1]; --at) std::swap(keys_[at], keys_[at - 1]);
}

}  // namespace cacheline::sharing
