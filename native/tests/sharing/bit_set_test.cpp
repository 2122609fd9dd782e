// Sets of CPU numbers and of threads' ordinals.
#include "sharing/bit_set.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <random>
#include <set>

namespace cacheline::sharing {
namespace {

TEST(BitSets, HoldWhatASetHolds) {
  std::mt19937 random(7);
  for (const uint32_t below : {40u, 63u, 64u, 65u, 300u, 65535u}) {
    BitSet set;
    std::set<uint32_t> same;
    for (int i = 0; i < 200; ++i) {
      const auto number = static_cast<uint32_t>(random() % below);
      set.add(number);
      same.insert(number);
    }
    EXPECT_EQ(set.list(), std::vector<uint32_t>(same.begin(), same.end())) << below;
    for (uint32_t number = 0; number < below + 100; ++number)
      ASSERT_EQ(set.has(number), same.contains(number)) << number;
  }
}

/// A sample's CPU may be any number up to 65,534, each row has a set, and recordings are foreign.
TEST(BitSets, OfOneLargeNumberTakeLittleMemory) {
  const size_t before = mallinfo2().uordblks;
  std::vector<BitSet> rows(10'000);
  for (BitSet& row : rows) row.add(65'534);
  EXPECT_LT(mallinfo2().uordblks - before, rows.size() * 200);
  EXPECT_TRUE(rows[0].has(65'534));
}

}  // namespace
}  // namespace cacheline::sharing
