// Hot lines by the sets of a cache, and what meta.json says of caches.
#include "workset/cache_sets.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/caches.h"

namespace cacheline::workset {
namespace {

constexpr uint64_t kSets = 64, kWays = 12, kLine = 64;

TEST(CacheSets, LinesOneStrideApartCompete) {
  std::vector<UsedLine> lines;
  for (uint64_t i = 0; i < 64; ++i) lines.push_back({0x7f0000000000 + 4096 * i, 20, 0});
  const SetUse use = setUseOf(lines, kSets, kWays, kLine);
  EXPECT_EQ(use.oversubscribed, 1u);
  EXPECT_EQ(use.mostLines, 64u);
  EXPECT_EQ(use.elsewhere, 0);
  EXPECT_EQ(use.share(), 1);
  EXPECT_TRUE(isConflict(use));
}

TEST(CacheSets, ScatteredAndAdjacentLinesDoNot) {
  std::mt19937 random(3);
  std::vector<UsedLine> scattered, adjacent, many;
  for (int i = 0; i < 384; ++i) scattered.push_back({uint64_t{random()} * kLine, 20, 0});
  for (uint64_t i = 0; i < 700; ++i) adjacent.push_back({0x10000 + kLine * i, 20, 0});
  // More than the cache holds, in all sets: no conflict, but capacity.
  for (uint64_t i = 0; i < 2000; ++i) many.push_back({0x10000 + kLine * i, 20, 0});
  for (const auto* lines : {&scattered, &adjacent, &many})
    EXPECT_FALSE(isConflict(setUseOf(*lines, kSets, kWays, kLine)));
}

TEST(CacheSets, LinesThatAreHardlyUsedDoNot) {
  std::vector<UsedLine> lines;
  for (uint64_t i = 0; i < 64; ++i) lines.push_back({4096 * i, kHotSamples - 1, 0});
  EXPECT_EQ(setUseOf(lines, kSets, kWays, kLine).hotLines, 0u);
  // A full set that few samples are on.
  for (UsedLine& line : lines) line.samples = kHotSamples;
  lines.push_back({64, 100'000, 0});
  EXPECT_FALSE(isConflict(setUseOf(lines, kSets, kWays, kLine)));
}

TEST(Caches, AreReadFromMetaJson) {
  const std::vector<analysis::DataCache> caches = analysis::cachesOf(R"({"topology": {
    "cores": [{"id": 0, "cpus": [0, 2]}, {"id": 1, "cpus": [1, 3]}],
    "caches": [
      {"level": 2, "type": "Unified", "bytes": 2097152, "lineSize": 64, "ways": 16, "cpus": [1, 3]},
      {"level": 1, "type": "Data", "bytes": 49152, "lineSize": 64, "ways": 12, "cpus": [0, 2]},
      {"level": 1, "type": "Instruction", "bytes": 32768, "lineSize": 64, "ways": 8, "cpus": [0, 2]},
      {"level": 3, "type": "Unified", "bytes": 33554432, "lineSize": 64, "ways": null, "cpus": [0, 1, 2, 3]}]}})");
  ASSERT_EQ(caches.size(), 3u);
  EXPECT_EQ(caches[0].lines(), 768u);
  EXPECT_EQ(caches[0].sets(), 64u);
  EXPECT_FALSE(caches[0].shared);
  EXPECT_EQ(caches[1].cpus, (std::vector<uint32_t>{1, 3}));
  EXPECT_FALSE(caches[1].shared);
  EXPECT_TRUE(caches[2].shared);
  EXPECT_EQ(caches[2].sets(), std::nullopt);
}

TEST(Caches, LeavesOutWhatIsMalformed) {
  for (
      const char* text :
      {"", "[]", "{", R"({"topology": 5})", R"({"topology": {"caches": {}}})",
       R"({"topology": {"caches": [7, {}, {"level": 1, "type": "Data", "bytes": 0, "lineSize": 0, "cpus": [0]},
            {"level": 1, "type": "Data", "bytes": 4096, "lineSize": 64, "cpus": []},
            {"level": -1, "type": "Data", "bytes": 4096, "lineSize": 64, "cpus": [0]},
            {"level": 1, "type": "Data", "bytes": "4096", "lineSize": 64, "cpus": [0]}]}})"})
    EXPECT_TRUE(analysis::cachesOf(text).empty()) << text;
  const auto odd = analysis::cachesOf(
      R"({"topology": {"caches": [{"level": 1, "type": "Data", "bytes": 4096, "lineSize": 64, "ways": 9999, "cpus": [0]}]}})");
  ASSERT_EQ(odd.size(), 1u);
  EXPECT_EQ(odd[0].sets(), std::nullopt);
}

}  // namespace
}  // namespace cacheline::workset
