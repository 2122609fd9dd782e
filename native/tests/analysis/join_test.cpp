// Samples at joins of control flow: charged to the locked access before it where every other way is ruled
// out.
#include <gtest/gtest.h>

#include <algorithm>

#include "scenario.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr uint64_t kZero = 1 << 6;  ///< the flag that the jump to the join asks for: it may have been taken

class Join : public testing::Test {
 protected:
  Join() {
    scenario_.start(100);
    scenario_.thread(100, 101);
    for (int i = 0; i < 20; ++i) {
      scenario_.sample(100, 100, kJoin, {{kRegDi, kData}, {kRegFlags, kZero}}, 0);
      scenario_.sample(100, 101, kJoin, {{kRegDi, kData + 8}, {kRegFlags, kZero}}, 1);
    }
  }
  Scenario scenario_;
};

TEST_F(Join, NobodyWasSeenOnThePathSoNobodyIsCharged) {
  const Report report = scenario_.report();
  expectTotals(report);
  EXPECT_EQ(report.attributed, 0u);
  EXPECT_EQ(report.unattributed.noMemoryOperand, 40u);
}

TEST_F(Join, OneSampleOnThePathChargesThatThreadOnly) {
  scenario_.sample(100, 100, kJoinedAdd, {{kRegDi, kData}}, 0);
  const Report report = scenario_.report(true);
  expectTotals(report);
  EXPECT_EQ(report.attributed, 21u) << "20 with skid 1 and the one at the access itself";
  EXPECT_EQ(report.unattributed.noMemoryOperand, 20u) << "the other thread came by the jump";
  const Line* line = lineAt(report, kData);
  ASSERT_NE(line, nullptr);
  ASSERT_EQ(line->accesses.size(), 1u);
  EXPECT_EQ(line->accesses[0].codeAddress, kJoinedAdd);
  EXPECT_EQ(line->accesses[0].skid, (std::vector<uint32_t>{1, 20}));
  EXPECT_TRUE(line->accesses[0].locked);
}

TEST_F(Join, TheSamePathInAnotherProcessSaysNothing) {
  scenario_.process(100, 200);
  scenario_.sample(200, 200, kJoinedAdd, {{kRegDi, kData}}, 0);
  const Report report = scenario_.report();
  EXPECT_EQ(report.unattributed.noMemoryOperand, 40u);
}

TEST_F(Join, FlagsThatTheJumpDoesNotMeetRuleItOut) {
  for (int i = 0; i < 5; ++i) scenario_.sample(100, 100, kJoin, {{kRegDi, kData}, {kRegFlags, 0}});
  const Report report = scenario_.report();
  expectTotals(report);
  EXPECT_EQ(report.attributed, 5u);
  EXPECT_EQ(report.unattributed.noMemoryOperand, 40u);
}

TEST(ComparedJoin, AComparisonMadeOnceMoreDecides) {
  Scenario scenario;
  scenario.start(100);
  scenario.thread(100, 101);
  scenario.sample(100, 100, kComparedAdd, {{kRegDi, kData}});
  for (int i = 0; i < 5; ++i)
    scenario.sample(100, 100, kComparedJoin, {{kRegDi, kData}, {kRegFlags, kZero}, {kRegAx, 0}});
  for (int i = 0; i < 7; ++i)
    scenario.sample(100, 101, kComparedJoin, {{kRegDi, kData}, {kRegFlags, kZero}, {kRegAx, 1}});
  const Report report = scenario.report(true);
  expectTotals(report);
  EXPECT_EQ(report.attributed, 1u + 7) << "eax 0 skips the access, 1 does not, whoever was seen where";
  EXPECT_EQ(report.unattributed.noMemoryOperand, 5u);
}

TEST(LoopJoin, TheHeadBelongsToTheLoadAtTheEnd) {
  Scenario scenario;
  scenario.start(100);
  const auto sample = [&](uint64_t edx) {
    scenario.sample(100, 100, kLoopHead, {{kRegDx, edx}, {kRegDi, 9}, {kRegSi, kData}});
  };
  for (const uint64_t edx : {1, 2, 8}) sample(edx);
  sample(0);  // as where the loop begins
  const Report report = scenario.report(true);
  expectTotals(report);
  EXPECT_EQ(report.attributed, 3u);
  EXPECT_EQ(report.unattributed.noMemoryOperand, 1u);
  const Line* line = lineAt(report, kData);
  ASSERT_NE(line, nullptr);
  std::vector<uint32_t> offsets;
  for (const Access& access : line->accesses) {
    EXPECT_EQ(access.codeAddress, kLoopLoad);
    offsets.push_back(access.offset);
  }
  std::sort(offsets.begin(), offsets.end());
  EXPECT_EQ(offsets, (std::vector<uint32_t>{0, 8, 56}));
}

TEST(ReturnJoin, BelongsToTheLoadBeforeTheReturn) {
  Scenario scenario;
  scenario.start(100);
  for (int i = 0; i < 5; ++i) scenario.sample(100, 100, kReturn, {{kRegDi, kData + 16}});
  const Report report = scenario.report(true);
  expectTotals(report);
  EXPECT_EQ(report.attributed, 5u);
  const Line* line = lineAt(report, kData);
  ASSERT_NE(line, nullptr);
  ASSERT_EQ(line->accesses.size(), 1u);
  EXPECT_EQ(line->accesses[0].codeAddress, kGetLoad);
  EXPECT_EQ(line->accesses[0].offset, 16u);
  EXPECT_EQ(line->accesses[0].skid, (std::vector<uint32_t>{0, 0, 5}));
}

class Arms : public testing::Test {
 protected:
  Arms() {
    scenario_.start(100);
    scenario_.thread(100, 101);
  }
  void at(uint64_t ip, uint32_t tid, int samples) {
    for (int i = 0; i < samples; ++i)
      scenario_.sample(100, tid, ip, {{kRegDi, kData}, {kRegSi, kData + 16}}, tid - 100);
  }
  /// Samples at one access, by one thread.
  static uint64_t records(const Report& report, uint64_t code, uint32_t thread) {
    uint64_t sum = 0;
    for (const Line& line : report.lines)
      for (const Access& access : line.accesses)
        if (access.codeAddress == code && access.threads == std::vector<uint32_t>{thread})
          sum += access.records;
    return sum;
  }
  Scenario scenario_;
};

TEST_F(Arms, WhoIsNeverSeenOnTheOtherOneRunsThisOne) {
  for (int i = 0; i < 20; ++i) {
    at(kFirstArm, 100, 1);
    at(kArmsJoin, 101, 1);
  }
  const Report report = scenario_.report(true);
  expectTotals(report);
  EXPECT_EQ(records(report, kSecondAdd, 101), 20u) << "not to the load at the join, which costs nothing";
  EXPECT_EQ(records(report, kArmsJoin, 101), 0u);
  EXPECT_EQ(lineAt(report, kData)->verdict, Verdict::falseSharing);
}

TEST_F(Arms, AFewSamplesBehindTheOtherOneAreNoEvidence) {
  at(kFirstArm, 100, 20);
  at(kArmsJoin, 100, 2);
  const Report report = scenario_.report(true);
  expectTotals(report);
  EXPECT_EQ(records(report, kSecondAdd, 100), 0u) << "this thread jumps";
  EXPECT_EQ(records(report, kArmsJoin, 100), 2u);
}

TEST_F(Arms, WhoRunsBothIsSeenBehindBoth) {
  at(kFirstArm, 100, 20);
  at(kArmsJoin, 100, 10);
  const Report report = scenario_.report(true);
  EXPECT_EQ(records(report, kSecondAdd, 100), 10u);
}

TEST_F(Arms, TheLoadThatWasSampledBeforeIsChargedWhereTheOtherHardlyWas) {
  at(kFirstLook + 3, 100, 20);
  at(kLooked, 100, 30);
  at(kLooked, 101, 30);
  const Report report = scenario_.report(true);
  expectTotals(report);
  EXPECT_EQ(records(report, kFirstLook, 100), 50u);
  EXPECT_EQ(report.unattributed.noMemoryOperand, 30u) << "of thread 101 nothing is known";
}

TEST_F(Arms, BothLoadsSampledLeaveTheWayOpen) {
  at(kFirstLook + 3, 100, 30);
  at(kSecondLook + 4, 100, 2);
  at(kLooked, 100, 30);
  EXPECT_EQ(scenario_.report().unattributed.noMemoryOperand, 30u);
}

TEST_F(Arms, FewSamplesBeforeLeaveTheWayOpen) {
  at(kFirstLook + 3, 100, 19);
  at(kLooked, 100, 30);
  EXPECT_EQ(scenario_.report().unattributed.noMemoryOperand, 30u);
}

TEST_F(Arms, WhatFollowsTheJoinIsRunToo) {
  for (int i = 0; i < 25; ++i) {
    at(i % 2 == 0 ? kFirstLook + 3 : kLooked, 100, 2);
    scenario_.sample(100, 101, kReturn, {{kRegDi, kData + 8}}, 1);
  }
  const Report report = scenario_.report(true);
  const Line* line = lineAt(report, kData);
  ASSERT_NE(line, nullptr);
  EXPECT_GT(line->contended, 0u)
      << "the store behind the join has no sample of its own; who only read would share";
}

}  // namespace
}  // namespace cacheline::analysis
