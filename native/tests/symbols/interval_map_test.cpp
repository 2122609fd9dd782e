// IntervalMap against a straightforward search, on small cases and on random ones.
#include "symbols/interval_map.h"

#include <gtest/gtest.h>

#include <random>

namespace cacheline::symbols {
namespace {

std::optional<uint32_t> slowFind(const std::vector<Interval>& intervals, uint64_t address) {
  const Interval* best = nullptr;
  for (const Interval& i : intervals)
    if (i.low <= address && address < i.high &&
        (best == nullptr || i.priority > best->priority || (i.priority == best->priority && i.id < best->id)))
      best = &i;
  return best == nullptr ? std::nullopt : std::optional<uint32_t>(best->id);
}

TEST(IntervalMap, EmptyFindsNothing) {
  EXPECT_FALSE(IntervalMap().find(0));
  EXPECT_FALSE(IntervalMap({{5, 5, 0, 1}, {9, 3, 0, 2}}).find(5));
}

TEST(IntervalMap, DeeperIntervalWinsAndTheOuterOneContinuesBehindIt) {
  const IntervalMap map({{100, 200, 0, 1}, {120, 140, 1, 2}, {130, 135, 2, 3}});
  EXPECT_FALSE(map.find(99));
  EXPECT_EQ(map.find(100), 1u);
  EXPECT_EQ(map.find(120), 2u);
  EXPECT_EQ(map.find(134), 3u);
  EXPECT_EQ(map.find(135), 2u);
  EXPECT_EQ(map.find(140), 1u);
  EXPECT_EQ(map.find(199), 1u);
  EXPECT_FALSE(map.find(200));
}

TEST(IntervalMap, ReachesTheEndOfTheAddressSpace) {
  const IntervalMap map({{UINT64_MAX - 4, UINT64_MAX, 0, 7}});
  EXPECT_EQ(map.find(UINT64_MAX - 1), 7u);
  EXPECT_FALSE(map.find(UINT64_MAX));
}

TEST(IntervalMap, AgreesWithASearchOnRandomIntervals) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; round++) {
    std::vector<Interval> intervals;
    const auto count = static_cast<uint32_t>(random() % 20);
    for (uint32_t id = 0; id < count; id++) {
      const uint64_t low = random() % 60;
      intervals.push_back({low, low + random() % 20, random() % 4, id});
    }
    const IntervalMap map(intervals);
    for (uint64_t address = 0; address < 90; address++)
      ASSERT_EQ(map.find(address), slowFind(intervals, address))
          << "round " << round << " address " << address;
  }
}

}  // namespace
}  // namespace cacheline::symbols
