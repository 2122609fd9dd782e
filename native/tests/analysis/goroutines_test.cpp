// Who competes in programs of Go, whose goroutines move between threads.
#include <gtest/gtest.h>

#include "scenario.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr uint64_t kArena = 0xc000000000, kSecond = 8;

/// A goroutine adds to a word, on one thread and another.
struct Work {
  uint64_t goroutine = 0, offset = 0;
};

/// `turns` rounds in which each goroutine has a sample, in a program of that kind; a goroutine that ran on
/// one thread runs on the other in the next round. r14 holds where the goroutine's structure is.
Report ran(std::initializer_list<Work> goroutines, int turns = 30, Link link = Link::go) {
  Scenario s;
  s.start(100, link);
  s.thread(100, 101);
  s.anonymous(100, kArena, 0x400000);
  for (int turn = 0; turn < turns; ++turn) {
    uint32_t thread = turn % 2;
    for (const Work& work : goroutines)
      s.sample(100, 100 + thread++ % 2, kAfterAdd,
               {{kRegDi, kData + work.offset}, {kRegR14, work.goroutine}});
  }
  Report report = s.report(true);
  expectTotals(report);
  return report;
}

Verdict verdictOf(const Report& report) {
  const Line* line = lineAt(report, kData);
  return line == nullptr ? Verdict::readShared : line->verdict;
}

constexpr uint64_t kOne = kArena + 0x1000, kTwo = kArena + 0x2000;

TEST(Goroutines, AWordForEachIsFalseSharingThoughEachThreadUsesBoth) {
  const Report report = ran({{kOne, 0}, {kTwo, kSecond}});
  EXPECT_EQ(verdictOf(report), Verdict::falseSharing);
  const Line* line = lineAt(report, kData);
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->goroutines, 2u);
  EXPECT_EQ(line->threads.size(), 2u);
  EXPECT_EQ(line->contended, 60u);
  EXPECT_EQ(line->accesses[0].threads, (std::vector<uint32_t>{100, 101}));
  const Report other = ran({{kOne, 0}, {kTwo, kSecond}}, 30, Link::fixed);
  EXPECT_EQ(verdictOf(other), Verdict::trueSharing) << "what r14 holds in other programs says nothing";
  EXPECT_EQ(lineAt(other, kData)->goroutines, std::nullopt);
}

TEST(Goroutines, OneWordOfTwoIsTrueSharing) {
  EXPECT_EQ(verdictOf(ran({{kOne, 0}, {kTwo, 0}})), Verdict::trueSharing);
}

TEST(Goroutines, ALineThatMovesWithItsGoroutineIsPrivate) {
  const Report report = ran({{kOne, 0}});
  EXPECT_EQ(verdictOf(report), Verdict::privateLine);
  EXPECT_EQ(report.contended, 0u);
  EXPECT_FALSE(lineAt(report, kData)->threads[0].competes);
}

TEST(Goroutines, WordsOfThreadsStayFalseSharingForManyGoroutines) {
  Scenario s;
  s.start(100, Link::go);
  s.thread(100, 101);
  s.anonymous(100, kArena, 0x400000);
  for (uint64_t turn = 0; turn < 200; ++turn) {
    const uint32_t thread = turn % 2;
    s.sample(100, 100 + thread, kAfterAdd,
             {{kRegDi, kData + thread * kSecond}, {kRegR14, kArena + 0x1000 * (turn / 2 % 4)}});
  }
  EXPECT_EQ(verdictOf(s.report(true)), Verdict::falseSharing);
}

TEST(Goroutines, TooShortLivedOnesLeaveTheVerdictToTheThreads) {
  Scenario s;
  s.start(100, Link::go);
  s.thread(100, 101);
  s.anonymous(100, kArena, 0x400000);
  for (uint64_t turn = 0; turn < 60; ++turn)
    s.sample(100, 100 + turn % 2, kAfterAdd, {{kRegDi, kData}, {kRegR14, kArena + 0x100 * turn}});
  const Report report = s.report(true);
  EXPECT_EQ(verdictOf(report), Verdict::trueSharing) << "each was seen once";
  EXPECT_EQ(lineAt(report, kData)->goroutines, 0u);
}

TEST(Goroutines, AreActorsFromEightSamplesOn) {
  EXPECT_EQ(lineAt(ran({{kOne, 0}, {kTwo, kSecond}}, 8), kData)->goroutines, 2u);
  EXPECT_EQ(lineAt(ran({{kOne, 0}, {kTwo, kSecond}}, 7), kData)->goroutines, 0u);
}

TEST(Goroutines, OfOneThreadDoNotCompete) {
  Scenario s;
  s.start(100, Link::go);
  s.anonymous(100, kArena, 0x400000);
  for (uint64_t turn = 0; turn < 60; ++turn)
    s.sample(100, 100, kAfterAdd, {{kRegDi, kData}, {kRegR14, turn % 2 == 0 ? kOne : kTwo}});
  EXPECT_EQ(verdictOf(s.report(true)), Verdict::privateLine);
}

TEST(Goroutines, WhereR14HoldsNoAddressTheThreadIsMeant) {
  const Report report = ran({{0x10, 0}, {0x18, kSecond}, {kOne + 1, 0}});
  EXPECT_EQ(verdictOf(report), Verdict::trueSharing);
  EXPECT_EQ(lineAt(report, kData)->goroutines, 0u);
}

TEST(Goroutines, WhatAnotherProgramSharesIsNotPrivate) {
  constexpr uint64_t kShared = 0x7f0000000000;
  Scenario s;
  s.start(100, Link::go);
  s.start(200);
  s.anonymous(100, kArena, 0x400000);
  for (const uint32_t pid : {100u, 200u}) s.shared(pid, kShared, 0x1000, 7, 0);
  for (int turn = 0; turn < 30; ++turn)
    for (const uint32_t pid : {100u, 200u})
      s.sample(pid, pid, kAfterAdd, {{kRegDi, kShared}, {kRegR14, kOne}});
  const Report report = s.report(true);
  ASSERT_FALSE(report.lines.empty());
  EXPECT_EQ(report.lines[0].verdict, Verdict::trueSharing);
  EXPECT_EQ(report.lines[0].goroutines, 1u);
}

}  // namespace
}  // namespace cacheline::analysis
