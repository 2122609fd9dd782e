// Samples at joins of control flow: charged to the locked access before it where the thread runs that path.
#include <gtest/gtest.h>

#include "scenario.h"

namespace cacheline::analysis {
namespace {

using namespace test;

class Join : public testing::Test {
 protected:
  Join() {
    scenario_.start(100);
    scenario_.thread(100, 101);
    for (int i = 0; i < 20; ++i) {
      scenario_.sample(100, 100, kJoin, {{kRegDi, kData}}, 0);
      scenario_.sample(100, 101, kJoin, {{kRegDi, kData + 8}}, 1);
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

}  // namespace
}  // namespace cacheline::analysis
