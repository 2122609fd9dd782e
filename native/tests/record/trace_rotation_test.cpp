// Which words are watched together.
#include "record/trace_rotation.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace cacheline::record {
namespace {

using Groups = std::vector<std::vector<uint32_t>>;

std::set<std::pair<uint32_t, uint32_t>> pairsOf(const Groups& groups) {
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (const auto& group : groups)
    for (const uint32_t a : group)
      for (const uint32_t b : group)
        if (a < b) pairs.emplace(a, b);
  return pairs;
}

TEST(TraceRotation, WhatFitsIsOneGroup) {
  EXPECT_EQ(wordGroups(1, 4), (Groups{{0}}));
  EXPECT_EQ(wordGroups(4, 4), (Groups{{0, 1, 2, 3}}));
  EXPECT_TRUE(wordGroups(0, 4).empty());
}

TEST(TraceRotation, EveryTwoWordsAreInAGroupTogether) {
  for (const size_t words : {5u, 8u, 13u, 64u})
    for (const size_t slots : {2u, 3u, 4u}) {
      const Groups groups = wordGroups(words, slots);
      EXPECT_EQ(pairsOf(groups).size(), words * (words - 1) / 2) << words << " words, " << slots << " slots";
      for (const auto& group : groups) EXPECT_LE(group.size(), slots);
      // A group of n covers n(n-1)/2 pairs; greedily at most twice as many groups as that needs.
      EXPECT_LE(groups.size(), 2 * (words * (words - 1)) / (slots * (slots - 1)) + 2);
    }
}

TEST(TraceRotation, OfVeryManyWordsNeighboursShareOne) {
  const Groups groups = wordGroups(kMostOrdered + 1, 4);
  EXPECT_EQ(groups[0], (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(groups[1], (std::vector<uint32_t>{3, 4, 5, 6}));
  EXPECT_EQ(groups.back().back(), kMostOrdered);
}

TEST(TraceRotation, OneRegisterTakesOneWordAtATime) {
  EXPECT_EQ(wordGroups(3, 1), (Groups{{0}, {1}, {2}}));
}

}  // namespace
}  // namespace cacheline::record
