// Sums by line against a recount, and look-ups that are kept.
#include "sharing/line_totals.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

#include "sharing/recent_cache.h"

namespace cacheline::sharing {
namespace {

SourceClass sourceOf(bool load, uint8_t counter, uint8_t locked) {
  SourceClass source;
  source.load = load;
  source.locked = locked;
  source.rowCounters[source.rowCount++] = counter;
  return source;
}

using Recount = std::map<std::pair<uint64_t, uint32_t>, std::array<uint64_t, 4>>;

/// Few lines are added at once, many wait for each other.
void expectRecounted(uint64_t lines) {
  const std::array sources = {sourceOf(true, 0, 0), sourceOf(true, 5, 1), sourceOf(false, 14, 0)};
  std::mt19937_64 random(lines);
  Recount recount;
  LineTotals first, second;
  for (uint64_t i = 0; i < 4 * lines; ++i) {
    const uint64_t offset = 64 * (random() % lines);
    const auto space = static_cast<uint32_t>(random() % 2);
    const size_t source = random() % sources.size();
    (i % 3 == 0 ? first : second).add(offset, space, sources[source]);
    auto& sums = recount[{offset, space}];
    ++sums[source];
    sums[3] += sources[source].locked;
  }
  first.flush();
  second.flush();
  first.add(second);
  ASSERT_EQ(first.size(), recount.size());
  for (size_t i = 0; i < first.size(); ++i) {
    const LineTotal& line = first[i];
    const auto& sums = recount.at({line.offset, line.space});
    ASSERT_EQ(line.counts[0], sums[0]);
    ASSERT_EQ(line.counts[5], sums[1]);
    ASSERT_EQ(line.counts[14], sums[2]);
    ASSERT_EQ(line.loads, sums[0] + sums[1]);
    ASSERT_EQ(line.locked, sums[3]);
  }
}

TEST(LineTotals, OfFewLinesAreTheRecounts) {
  expectRecounted(100);
}
TEST(LineTotals, OfManyLinesAreTheRecounts) {
  expectRecounted(40000);
}

TEST(RecentCache, GivesWhatWasFoundUntilItIsCleared) {
  RecentCache<uint64_t> cache;
  std::mt19937_64 random(1);
  uint64_t salt = 0, found = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 200000; ++i) {
      const uint64_t key = random() % 30000, version = random() % 3;
      const uint64_t value = key * 3 + version + salt;
      const uint64_t* kept = cache.find(key, version);
      if (kept == nullptr) {
        ++found;
        kept = &cache.add(key, version, value);
      }
      ASSERT_EQ(*kept, value);
    }
    EXPECT_LT(found, 95000u);  // of 90,000 keys: it has grown, and kept what it had
    found = 0;
    salt = 7;
    cache.clear();
  }
}

}  // namespace
}  // namespace cacheline::sharing
