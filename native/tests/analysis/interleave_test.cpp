// Which threads compete: one test a rule, and whole timelines.
#include "analysis/interleave.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "interleaving.h"

namespace cacheline::analysis {
namespace {

using test::Interleaving;

TEST(RunList, ExtendsTheRunAndBeginsTheNext) {
  RunList list;
  list.begin(10);
  list.extend(12);
  list.begin(20);
  ASSERT_EQ(list.runs().size(), 2u);
  EXPECT_EQ(list.runs()[0].start, 10u);
  EXPECT_EQ(list.runs()[0].end, 12u);
  EXPECT_EQ(list.runs()[0].count, 2u);
  EXPECT_EQ(list.runs()[0].pause, kNoPause);
  EXPECT_EQ(list.runs()[1].count, 1u);
}

TEST(RunList, GivesUpTheShortestPausesForRoom) {
  RunList list;
  for (const uint64_t time : {0, 100, 210, 330, 340, 470, 610, 760, 920}) list.begin(time);
  const auto runs = list.runs();
  // Given up: 10, 100, 110 and 120. Kept: 130 and longer.
  ASSERT_EQ(runs.size(), 5u);
  EXPECT_EQ(runs[0].start, 0u);
  EXPECT_EQ(runs[0].end, 340u);
  EXPECT_EQ(runs[0].count, 5u);
  EXPECT_EQ(runs[0].pause, 10u);
  EXPECT_EQ(runs[1].start, 470u);
  EXPECT_EQ(runs[1].pause, kNoPause);
  EXPECT_EQ(runs[4].start, 920u);
}

TEST(RunList, PausesAsShortAsThoseGivenUpAreNotKeptAnyMore) {
  RunList list;
  for (const uint64_t time : {0, 100, 210, 330, 340, 470, 610, 760, 920}) list.begin(time);
  list.begin(925);
  EXPECT_EQ(list.runs().back().count, 2u);
  EXPECT_EQ(list.runs().back().pause, 5u);
  list.begin(1200);
  EXPECT_EQ(list.runs().size(), 6u);
}

TEST(RunList, KeepsEverySampleAndStaysOrderedUnderAnySequence) {
  std::mt19937_64 random(7);
  RunList list;
  uint64_t time = 0, samples = 0;
  for (int i = 0; i < 10000; ++i) {
    time += random() % 50;
    if (i > 0 && random() % 3 == 0)
      list.extend(time);
    else
      list.begin(time);
    ++samples;
    uint64_t total = 0, last = 0;
    for (const analysis::Run& run : list.runs()) {
      EXPECT_LE(last, run.start);
      EXPECT_LE(run.start, run.end);
      last = run.end;
      total += run.count;
    }
    ASSERT_EQ(total, samples);
    ASSERT_LE(list.runs().size(), kMaxRuns);
  }
}

TEST(Compete, FourSamplesInTurnsCompete) {
  EXPECT_TRUE(Interleaving("ABAB").compete('A', 'B'));
}

TEST(Compete, ThreeSamplesInTurnsAreTooFew) {
  EXPECT_FALSE(Interleaving("ABA").compete('A', 'B'));
}

TEST(Compete, OneAfterTheOtherDoesNot) {
  EXPECT_FALSE(Interleaving("AAAAAABBBBBB").compete('A', 'B'));
  EXPECT_FALSE(Interleaving("AB").compete('A', 'B'));
}

TEST(Compete, AnOccasionalVisitorOfABusyThreadDoes) {
  EXPECT_TRUE(Interleaving("AAAAAABAAAAA").compete('A', 'B'));
  EXPECT_TRUE(Interleaving("AABAA").compete('A', 'B'));
}

TEST(Compete, AVisitorNeedsFourSamplesAroundIt) {
  EXPECT_FALSE(Interleaving("AABA").compete('A', 'B'));
}

TEST(Compete, SettingUpAndSummingUpIsNoCompetition) {
  EXPECT_FALSE(Interleaving("AA" + std::string(200, 'B') + "AA").compete('A', 'B'));
  EXPECT_FALSE(
      Interleaving(std::string(20, 'A') + std::string(200, 'B') + std::string(20, 'A')).compete('A', 'B'));
}

TEST(Compete, RepeatedParallelRegionsBetweenSerialOnesAreNoCompetition) {
  std::string text;
  for (int i = 0; i < 4; ++i) text += std::string(20, 'A') + std::string(200, 'B');
  EXPECT_FALSE(Interleaving(text).compete('A', 'B'));
}

TEST(Compete, PhasesAreNoCompetitionHoweverManyThereAre) {
  for (const int phases : {2, 3, 4, 7, 20, 100}) {
    std::string text;
    for (int i = 0; i < phases; ++i) text += std::string(60, i % 2 == 0 ? 'A' : 'B');
    EXPECT_FALSE(Interleaving(text).compete('A', 'B')) << phases << " phases";
  }
}

TEST(Compete, TurnsOfSomeSamplesAreCompetition) {
  // Time slices of two threads: each a few samples long.
  std::string text;
  for (int i = 0; i < 50; ++i) text += std::string(4, i % 2 == 0 ? 'A' : 'B');
  EXPECT_TRUE(Interleaving(text).compete('A', 'B'));
}

TEST(Compete, ManyRunsMergeIntoOverlap) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "AB";
  const Interleaving timeline(text);
  EXPECT_TRUE(timeline.compete('A', 'B'));
  EXPECT_EQ(timeline.runs('A').size(), 1u);
}

TEST(Compete, AThirdThreadsTurnsDoNotMakeTheOthersCompete) {
  // A and C in turns, then B alone with C.
  std::string text;
  for (int i = 0; i < 100; ++i) text += "AC";
  for (int i = 0; i < 100; ++i) text += "BC";
  const Interleaving timeline(text);
  EXPECT_TRUE(timeline.compete('A', 'C'));
  EXPECT_TRUE(timeline.compete('B', 'C'));
  EXPECT_FALSE(timeline.compete('A', 'B'));
}

TEST(Compete, IsSymmetricForAnyTwoTimelines) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    const size_t length = 2 + random() % 40;
    const uint64_t stay = 1 + random() % 12;
    char who = 'A';
    for (size_t i = 0; i < length; ++i) {
      if (random() % stay == 0) who = static_cast<char>('A' + random() % 3);
      text += who;
    }
    const Interleaving timeline(text);
    EXPECT_EQ(timeline.compete('A', 'B'), timeline.compete('B', 'A')) << text;
  }
}

TEST(Compete, SixtyFourThreadsAtOneLineAllCompete) {
  std::mt19937_64 random(3);
  std::vector<uint32_t> order;
  for (int i = 0; i < 64 * 40; ++i) order.push_back(static_cast<uint32_t>(random() % 64));
  const Interleaving timeline(order);
  int pairs = 0;
  for (uint32_t a = 0; a < 64; ++a)
    for (uint32_t b = a + 1; b < 64; ++b) pairs += timeline.compete(a, b) ? 1 : 0;
  EXPECT_EQ(pairs, 64 * 63 / 2);
}

TEST(Compete, AThreadPoolInPhasesDoesNot) {
  // Each of 64 threads has the line for itself for a while, one after the other.
  std::vector<uint32_t> order;
  for (uint32_t thread = 0; thread < 64; ++thread) order.insert(order.end(), 40, thread);
  const Interleaving timeline(order);
  for (uint32_t a = 0; a < 64; ++a)
    for (uint32_t b = a + 1; b < 64; ++b) EXPECT_FALSE(timeline.compete(a, b));
}

TEST(Compete, ABusyWriterAndARareReaderDo) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 100; ++round) {
    std::string text(500, 'A');
    for (int i = 0; i < 5; ++i) text[50 + random() % 400] = 'B';
    EXPECT_TRUE(Interleaving(text).compete('A', 'B')) << text;
  }
}

TEST(Compete, EqualTimesAreTakenInTheOrderTheyCame) {
  RunList a, b;
  a.begin(5);
  b.begin(5);
  EXPECT_FALSE(compete(a.runs(), b.runs()));
  EXPECT_FALSE(compete({}, b.runs()));
}

}  // namespace
}  // namespace cacheline::analysis
