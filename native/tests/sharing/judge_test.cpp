// Verdicts on lines of memory samples.
#include "sharing/judge.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <algorithm>

namespace cacheline::sharing {
namespace {

using analysis::Verdict;

class JudgeLine : public ::testing::Test {
 protected:
  JudgeLine() {
    perf_mem_data_src word{};
    word.mem_op = PERF_MEM_OP_LOAD;
    word.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3;
    word.mem_snoop = PERF_MEM_SNOOP_HITM;
    hitm_ = classify(word.val, true, true);
    word.mem_snoop = PERF_MEM_SNOOP_NONE;
    load_ = classify(word.val, true, true);
    word.mem_op = PERF_MEM_OP_STORE;
    store_ = classify(word.val, true, true);
  }

  void access(uint32_t thread, uint64_t offset, const SourceClass& source, uint64_t time) {
    MemoryAccess access{};
    access.offset = offset;
    access.actor = thread;
    access.location = access.group = thread;
    access.source = &source;
    access.time = time;
    access.order = ++accesses_;
    AccessLists lists(64);
    lists.next(access.offset, placements_[0].space) = access;
    const AccessLists* const one = &lists;
    table_.add({&one, 1});
  }
  /// Every thread in turn at its offset, a load and a store each.
  void turns(const std::vector<uint64_t>& offsets, const SourceClass& first, const SourceClass& second) {
    for (uint64_t i = 0; i < 200; ++i) {
      const auto thread = static_cast<uint32_t>(i % offsets.size());
      access(thread, offsets[thread], i / offsets.size() % 2 == 0 ? first : second, 1000 * i);
    }
  }
  LineJudgement judged(uint32_t width = 8) {
    table_.finish();
    const Line& line = table_.line(table_.find(0, 0));
    facts_ = {};
    facts_.width = width;
    std::vector<LineRow> rows;
    for (uint32_t index = line.firstRow; index != kNone; index = table_.row(index).next) {
      const Row& row = table_.row(index);
      rows.push_back({.row = &row, .facts = &facts_, .code = row.location, .function = row.location});
    }
    return judgeLine(table_, line, rows, policyOf(Display::total));
  }

  const std::vector<Placement> placements_{{}};
  AccessTable table_{64, placements_, MemoryNodes({})};
  uint32_t accesses_ = 0;
  CodeFacts facts_;
  SourceClass hitm_, load_, store_;
};

TEST_F(JudgeLine, DistinctBytesAreFalseSharing) {
  turns({0, 8}, hitm_, store_);
  EXPECT_EQ(judged().verdict, Verdict::falseSharing);
}

TEST_F(JudgeLine, OneWordIsTrueSharing) {
  turns({0, 0}, hitm_, store_);
  EXPECT_EQ(judged().verdict, Verdict::trueSharing);
}

TEST_F(JudgeLine, WiderAccessesMeetWhereStartsDoNot) {
  turns({0, 4}, hitm_, store_);
  EXPECT_EQ(judged(8).verdict, Verdict::trueSharing) << "one access covers bytes of both";
}

TEST_F(JudgeLine, UnknownWidthIsAByte) {
  turns({0, 4}, hitm_, store_);
  EXPECT_EQ(judged(0).verdict, Verdict::falseSharing);
}

TEST_F(JudgeLine, AHitmIsAWriterEvenWhereNoStoreWasSampled) {
  turns({0, 8}, hitm_, hitm_);
  const LineJudgement judgement = judged();
  EXPECT_EQ(judgement.verdict, Verdict::mixed) << "what is written is not known";
  EXPECT_EQ(judgement.waiting->line.share().value, std::nullopt);
}

TEST_F(JudgeLine, OnlyTheLoadsThatCountWait) {
  for (uint64_t i = 0; i < 100; ++i) {
    access(0, 0, store_, 10 * i);
    access(1, 8, hitm_, 10 * i + 1);
    access(2, 0, load_, 10 * i + 2);
  }
  const LineJudgement judgement = judged();
  EXPECT_DOUBLE_EQ(judgement.waiting->line.waiting, 100);
  EXPECT_EQ(judgement.verdict, Verdict::falseSharing);
  ASSERT_EQ(judgement.waiting->victims.size(), 1u);
  EXPECT_EQ(judgement.waiting->victims[0].visitors, (std::vector<uint32_t>{1}));
}

TEST_F(JudgeLine, OfManySamplesTheSameShareIsKept) {
  for (uint64_t i = 0; i < 40'000; ++i) {
    const auto thread = static_cast<uint32_t>(i * 7919 % 10);
    if (thread < 6)
      access(0, 0, store_, i);
    else
      access(1, thread < 9 ? 8 : 0, hitm_, i);
  }
  const analysis::FalseShare share = judged().waiting->line.share();
  EXPECT_NEAR(share.value.value_or(-1), 0.75, 0.05);
  EXPECT_LT(share.low, 0.75);
  EXPECT_GT(share.high, 0.75);
}

TEST_F(JudgeLine, LoadsAloneAreReadShared) {
  turns({0, 8}, load_, load_);
  EXPECT_EQ(judged().verdict, Verdict::readShared);
}

TEST_F(JudgeLine, FewSamplesWithAHitmCompeteWhereTheirTimesOverlap) {
  access(0, 0, store_, 100);
  access(1, 8, hitm_, 200);
  access(0, 0, store_, 300);
  const LineJudgement judgement = judged();
  EXPECT_EQ(judgement.verdict, Verdict::mixed) << "too few to tell the words apart";
  EXPECT_TRUE(judgement.competes[0] && judgement.competes[1]);
}

TEST_F(JudgeLine, ThreadsOneAfterTheOtherArePrivate) {
  for (uint64_t i = 0; i < 50; ++i) access(0, 0, store_, i);
  for (uint64_t i = 100; i < 150; ++i) access(1, 8, hitm_, i);
  EXPECT_EQ(judged().verdict, Verdict::privateLine);
}

TEST_F(JudgeLine, OneThreadIsPrivate) {
  for (uint64_t i = 0; i < 50; ++i) access(0, 0, hitm_, i);
  EXPECT_EQ(judged().verdict, Verdict::privateLine);
}

TEST_F(JudgeLine, FlagsNameStraddlersAndNeighbours) {
  turns({0, 60}, hitm_, store_);
  LineJudgement judgement = judged(8);
  EXPECT_EQ(judgement.flags(), std::vector<std::string>{"straddling"});
  judgement.adjacent = true;
  EXPECT_EQ(judgement.flags(), (std::vector<std::string>{"straddling", "adjacent"}));
}

/// Where time is sampled, of two threads in turn: an access that waits, wherever its actor competes.
TEST_F(JudgeLine, OfTheClockAllSamplesWait) {
  turns({0, 8}, store_, store_);
  const JudgePolicy clock{.waits = [](const SourceClass&) { return true; }, .timed = true};
  table_.finish();
  const Line& line = table_.line(table_.find(0, 0));
  facts_.width = 8;
  std::vector<LineRow> rows;
  for (uint32_t index = line.firstRow; index != kNone; index = table_.row(index).next) {
    const Row& row = table_.row(index);
    rows.push_back(
        {.row = &row, .facts = &facts_, .code = row.location, .function = row.location, .thread = row.group});
  }
  const LineJudgement judgement = judgeLine(table_, line, rows, clock);
  EXPECT_EQ(judgement.verdict, Verdict::falseSharing);
  EXPECT_EQ(judgement.visitors.size(), 2u);
  uint64_t logged = 0;
  for (const uint64_t samples : judgement.logged) logged += samples;
  EXPECT_EQ(logged, 199u) << "all but the one before the second thread came";
}

}  // namespace
}  // namespace cacheline::sharing
