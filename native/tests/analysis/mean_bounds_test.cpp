// Means over causes of which it is not known how many there are.
#include "analysis/mean_bounds.h"

#include <gtest/gtest.h>

namespace cacheline::analysis {
namespace {

TEST(MeanBounds, AreTheMeanWhereAllIsKnown) {
  const std::vector<UnsureCause> causes{{3, 3, 1}, {1, 1, 0}};
  EXPECT_DOUBLE_EQ(boundOfMean(causes, false), 0.75);
  EXPECT_DOUBLE_EQ(boundOfMean(causes, true), 0.75);
}

TEST(MeanBounds, TakeWhatMovesThem) {
  const std::vector<UnsureCause> causes{{2, 4, 1}, {2, 6, 0}, {0, 100, 0.5}};
  EXPECT_DOUBLE_EQ(boundOfMean(causes, true), 4.0 / 6) << "one half is less than that";
  EXPECT_DOUBLE_EQ(boundOfMean(causes, false), 2.0 / 8);
}

TEST(MeanBounds, AreOfSomethingWhereNothingIsSure) {
  EXPECT_DOUBLE_EQ(boundOfMean({{0, 5, 0.25}, {0, 5, 1}}, true), 1);
  EXPECT_DOUBLE_EQ(boundOfMean({{0, 5, 0.25}, {0, 5, 1}}, false), 0.25);
  EXPECT_DOUBLE_EQ(boundOfMean({}, true), 0);
}

}  // namespace
}  // namespace cacheline::analysis
