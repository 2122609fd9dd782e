// Percentiles against a sorted list.
#include "sharing/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace cacheline::sharing {
namespace {

uint64_t exact(std::vector<uint64_t> values, size_t percent) {
  std::sort(values.begin(), values.end());
  return values[(values.size() * percent + 99) / 100 - 1];
}

/// A table of one row.
struct One {
  ChunkPool pool;
  LatencyTable table{pool};
  Latencies row;
  void add(uint64_t cycles) { table.add(row, cycles); }
  Percentiles percentiles() const { return table.percentiles(row); }
};

TEST(Latencies, NothingIsZero) {
  const Percentiles none = One().percentiles();
  EXPECT_EQ(none.p50, 0u);
  EXPECT_EQ(none.max, 0u);
}

TEST(Latencies, AreExactWhileTheyAreFew) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> values;
  One latencies;
  for (size_t i = 0; i < LatencyTable::kExact; ++i) {
    values.push_back(random() % 100000);
    latencies.add(values.back());
    const Percentiles found = latencies.percentiles();
    ASSERT_EQ(found.p50, exact(values, 50)) << i;
    ASSERT_EQ(found.p95, exact(values, 95)) << i;
    ASSERT_EQ(found.max, *std::max_element(values.begin(), values.end()));
  }
}

TEST(Latencies, AreWithinOneThirtySecondWhenTheyAreMany) {
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> tail(5, 2);
  std::vector<uint64_t> values;
  One latencies;
  for (size_t i = 0; i < 20000; ++i) {
    values.push_back(static_cast<uint64_t>(tail(random)));
    latencies.add(values.back());
  }
  const Percentiles found = latencies.percentiles();
  EXPECT_NEAR(static_cast<double>(found.p50), static_cast<double>(exact(values, 50)),
              static_cast<double>(exact(values, 50)) / 32 + 1);
  EXPECT_NEAR(static_cast<double>(found.p95), static_cast<double>(exact(values, 95)),
              static_cast<double>(exact(values, 95)) / 32 + 1);
  EXPECT_EQ(found.max, exact(values, 100));
}

TEST(Latencies, OneNumberStaysThatNumber) {
  One latencies;
  for (int i = 0; i < 1000; ++i) latencies.add(1000);
  EXPECT_LE(latencies.percentiles().p95, 1000u);
  EXPECT_EQ(latencies.percentiles().max, 1000u);
}

TEST(Latencies, AreManyOfOneNumber) {
  One latencies;
  for (int i = 0; i < 100'000; ++i) latencies.add(200);
  for (int i = 0; i < 90'000; ++i) latencies.add(3000);
  EXPECT_NEAR(static_cast<double>(latencies.percentiles().p50), 200, 200 / 32.0);
  EXPECT_NEAR(static_cast<double>(latencies.percentiles().p95), 3000, 3000 / 32.0);
}

TEST(Latencies, TakeWhatNoCounterHolds) {
  One latencies;
  latencies.add(~uint64_t{0});
  EXPECT_EQ(latencies.percentiles().max, 0xffffffffu);
}

}  // namespace
}  // namespace cacheline::sharing
