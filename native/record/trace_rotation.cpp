// Greedy covering of all pairs.
#include "record/trace_rotation.h"

#include <algorithm>
#include <numeric>

namespace cacheline::record {
namespace {

class Pairs {
 public:
  explicit Pairs(size_t words) : words_(words), covered_(words * words) {}
  bool isCovered(size_t a, size_t b) const { return covered_[a * words_ + b]; }
  void cover(const std::vector<uint32_t>& group) {
    for (const uint32_t a : group)
      for (const uint32_t b : group) covered_[a * words_ + b] = true;
  }
  /// How many pairs a word would newly cover with those of the group.
  size_t gain(const std::vector<uint32_t>& group, size_t word) const {
    return static_cast<size_t>(
        std::count_if(group.begin(), group.end(), [&](uint32_t other) { return !isCovered(other, word); }));
  }

 private:
  size_t words_;
  std::vector<bool> covered_;
};

std::vector<uint32_t> range(size_t from, size_t to) {
  std::vector<uint32_t> list(to - from);
  std::iota(list.begin(), list.end(), static_cast<uint32_t>(from));
  return list;
}

}  // namespace

std::vector<std::vector<uint32_t>> wordGroups(size_t words, size_t slots) {
  std::vector<std::vector<uint32_t>> groups;
  if (words <= slots || words > kMostOrdered || slots < 2) {
    // Neighbouring groups share a word, by which they can be put in order.
    const size_t step = words <= slots || slots < 2 ? std::max<size_t>(slots, 1) : slots - 1;
    for (size_t from = 0; from < words; from += step) {
      groups.push_back(range(from, std::min(from + slots, words)));
      if (from + slots >= words) break;
    }
    return groups;
  }
  Pairs pairs(words);
  for (size_t first = 0; first < words; ++first)
    for (size_t second = first + 1; second < words; ++second) {
      if (pairs.isCovered(first, second)) continue;
      std::vector<uint32_t> group{static_cast<uint32_t>(first), static_cast<uint32_t>(second)};
      while (group.size() < slots) {
        size_t best = words, most = 0;
        for (size_t word = 0; word < words; ++word) {
          if (std::ranges::find(group, word) != group.end()) continue;
          if (const size_t gain = pairs.gain(group, word); best == words || gain > most) {
            best = word;
            most = gain;
          }
        }
        if (most == 0) break;
        group.push_back(static_cast<uint32_t>(best));
      }
      std::ranges::sort(group);
      pairs.cover(group);
      groups.push_back(std::move(group));
    }
  return groups;
}

}  // namespace cacheline::record
