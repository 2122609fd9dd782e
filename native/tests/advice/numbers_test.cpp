// Advice on arrays of numbers: by how threads share out the elements.
#include <gtest/gtest.h>

#include <utility>

#include "advice/advice.h"
#include "report_builder.h"

namespace cacheline::advice {
namespace {

/// `owners`: by element, who writes it; ~0: all four threads do.
AdviceList adviceOnNumbers(const std::vector<uint32_t>& owners, uint64_t distance = 8,
                           const std::string& name = "work::sums[]", const std::string& type = "long int") {
  ReportBuilder builder;
  builder.object(name, kBase, distance * owners.size(), type);
  std::vector<Doing> doings;
  for (size_t i = 0; i < owners.size(); ++i)
    for (uint32_t thread = 0; thread < 4; ++thread)
      if (owners[i] == thread || owners[i] == ~0u)
        doings.push_back({.thread = thread, .address = kBase + distance * i, .writes = true});
  return advise(builder.build(doings));
}

TEST(AdviseNumbers, BehindAPointerAreAnArrayToo) {
  const AdviceList list = adviceOnNumbers({0, 1, 2, 3});
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].way, Way::stride);
  EXPECT_EQ(list.advice[0].object, "work::sums[]");
  EXPECT_EQ(list.advice[0].type, "long int");
  EXPECT_EQ(list.advice[0].elementsInRow, 1u);
  EXPECT_EQ(list.advice[0].bytesPerInstance, 56u);
  EXPECT_FALSE(list.advice[0].bytesTotal) << "nobody knows how many there are";
}

TEST(AdviseNumbers, InRowsStayTogether) {
  for (const auto& [name, type] : {std::pair("hist", "long int[8]"), std::pair("work::row[]", "long int")}) {
    const AdviceList list = adviceOnNumbers({0, 0, 0, 1, 1, 1}, 8, name, type);
    ASSERT_EQ(list.advice.size(), 1u) << name;
    EXPECT_EQ(list.advice[0].way, Way::stride);
    EXPECT_EQ(list.advice[0].elementsInRow, 3u);
    EXPECT_EQ(list.advice[0].bytesPerInstance, 64u - 24) << "a row is filled up to a line";
  }
  const AdviceList inTurns = adviceOnNumbers({0, 1, 0, 1});
  ASSERT_EQ(inTurns.advice.size(), 1u);
  EXPECT_EQ(inTurns.advice[0].elementsInRow, 0u) << "elements here and there are no row";
}

TEST(AdviseNumbers, ThatAllThreadsUseOrThatLieApartNeedNoStride) {
  const AdviceList shared = adviceOnNumbers({~0u, ~0u, ~0u});
  ASSERT_EQ(shared.advice.size(), 1u);
  EXPECT_NE(shared.advice[0].way, Way::stride);
  EXPECT_EQ(shared.advice[0].elementsInRow, 0u);
  EXPECT_TRUE(adviceOnNumbers({0, 1, 2, 3}, 64).advice.empty());
}

}  // namespace
}  // namespace cacheline::advice
