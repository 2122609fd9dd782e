// Which lines count in the sums without being listed.
#include "sharing/summed_lines.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <vector>

namespace cacheline::sharing {
namespace {

constexpr uint64_t kLineBytes = 64, kBlockBytes = 64 << 10;

class SummedLinesTest : public testing::Test {
 protected:
  /// A line with so many remote HITMs; without any, it has other loads.
  void line(uint64_t offset, uint64_t hitms) {
    perf_mem_data_src source{};
    source.mem_op = PERF_MEM_OP_LOAD;
    source.mem_lvl = PERF_MEM_LVL_HIT | (hitms == 0 ? PERF_MEM_LVL_L1 : PERF_MEM_LVL_REM_CCE1);
    source.mem_snoop = hitms == 0 ? PERF_MEM_SNOOP_NONE : PERF_MEM_SNOOP_HITM;
    LineTotal total;
    total.offset = offset;
    for (uint64_t i = 0; i < std::max<uint64_t>(hitms, 1); ++i) total.add(classify(source.val, true, true));
    lines_.push_back(total);
    shared_.add(total);
  }
  /// `count` lines of `hitms` each, at the beginning of block `number`.
  void block(uint64_t number, uint64_t count, uint64_t hitms) {
    for (uint64_t i = 0; i < count; ++i) line(number * kBlockBytes + i * kLineBytes, hitms);
  }
  SummedLines chosen(size_t most) const {
    return {[this](const auto& visit) {
              for (const LineTotal& one : lines_) visit(one);
            },
            shared_, Display::total, most};
  }
  static bool hasBlock(const SummedLines& summed, uint64_t number) {
    return summed.has(number * kBlockBytes, 1);
  }

  std::vector<LineTotal> lines_;
  SharedLines shared_;
};

TEST_F(SummedLinesTest, AreAllWithDisplayedLoadsWhereTheyAreFew) {
  block(0, 1, 1000);
  block(1, 500, 1);
  block(2, 700, 0);
  const SummedLines summed = chosen(500);
  EXPECT_EQ(summed.lines(), 500u) << "without those that are listed or have none";
  EXPECT_EQ(summed.leftLines(), 0u);
  EXPECT_TRUE(summed.has(kBlockBytes, 1));
  EXPECT_FALSE(summed.has(2 * kBlockBytes, 0));
}

TEST_F(SummedLinesTest, AreNoneWhereListedLinesHaveNearlyAll) {
  block(0, 1, 9500);
  block(1, 500, 1);
  EXPECT_EQ(chosen(1000).lines(), 0u);
  line(0x7000000, 1);
  EXPECT_EQ(chosen(1000).lines(), 500u + 1);
}

TEST_F(SummedLinesTest, AreOfWholeBlocksFirstOfThoseWithMostALine) {
  block(1, 600, 1);
  block(2, 600, 2);
  block(3, 300, 2);
  block(3, 1, 1000);  // which is listed
  line(3 * kBlockBytes + 500 * kLineBytes, 0);
  block(4, 900, 0);
  const SummedLines summed = chosen(950);
  EXPECT_TRUE(hasBlock(summed, 2));
  EXPECT_TRUE(hasBlock(summed, 3));
  EXPECT_FALSE(hasBlock(summed, 1));
  EXPECT_FALSE(hasBlock(summed, 4));
  EXPECT_EQ(summed.lines(), 900u);
  EXPECT_EQ(summed.leftLines(), 600u);
  EXPECT_EQ(summed.leftLoads(), 600u);
}

TEST_F(SummedLinesTest, EndAtTheFirstBlockThatIsTooLarge) {
  block(1, 400, 3);
  block(2, 1000, 2);
  block(3, 100, 1);
  const SummedLines summed = chosen(600);
  EXPECT_TRUE(hasBlock(summed, 1));
  EXPECT_FALSE(hasBlock(summed, 2));
  EXPECT_FALSE(hasBlock(summed, 3)) << "it has fewer a line than one that is left out";
}

TEST_F(SummedLinesTest, HaveOneBlockHoweverLarge) {
  block(1, 1000, 2);
  block(2, 500, 1);
  const SummedLines summed = chosen(10);
  EXPECT_EQ(summed.lines(), 1000u);
  EXPECT_EQ(summed.leftLines(), 500u);
}

}  // namespace
}  // namespace cacheline::sharing
