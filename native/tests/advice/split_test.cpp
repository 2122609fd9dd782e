// Members that are split off many objects.
#include <gtest/gtest.h>

#include "advice/advice.h"
#include "report_builder.h"

namespace cacheline::advice {
namespace {

/// Objects of which one thread reads two members and the other writes the third; of `owners` pairs of threads
/// each has every so many-th object.
AdviceList advisePages(uint64_t objects, uint32_t owners, const std::string& meta = "") {
  constexpr uint64_t kSize = 24, kSeen = 16;
  ReportBuilder builder;
  builder.report.metaJson = meta;
  builder.type("page", {"key", "value", "uses"}).instances = kSeen;
  builder.object("pages", kBase, objects * kSize, "page[" + std::to_string(objects) + "]");
  std::vector<Doing> doings;
  for (uint32_t i = 0; i < kSeen; ++i) {
    const uint64_t at = kBase + i * kSize;
    const uint32_t pair = 2 * (i % owners);
    doings.push_back({.thread = pair, .address = at, .writes = false, .count = 200});
    doings.push_back({.thread = pair, .address = at + 8, .writes = false, .count = 200});
    doings.push_back({.thread = pair + 1, .address = at + 16, .writes = true, .count = 400, .function = 2});
  }
  return advise(builder.build(doings));
}

TEST(Advise, WhatIsWrittenInManyObjectsIsSplitOff) {
  const AdviceList few = advisePages(64, 1);
  ASSERT_EQ(few.advice.size(), 1u);
  EXPECT_EQ(few.advice[0].way, Way::pad) << "64 padded objects fit a first-level cache";
  const AdviceList many = advisePages(1024, 1);
  ASSERT_EQ(many.advice.size(), 1u);
  ASSERT_EQ(many.advice[0].way, Way::split);
  const MemberSplit& split = std::get<SplitMembers>(many.advice[0].change).split;
  EXPECT_EQ(split.sizes, (std::vector<uint64_t>{16, 8}));
  EXPECT_EQ(split.members[2].part, 1u);
  EXPECT_EQ(many.advice[0].bytesPerInstance, 0u);
  EXPECT_DOUBLE_EQ(many.advice[0].contendedLeft, 0);
  const std::string caches =
      R"({"topology":{"caches":[{"level":1,"type":"Data","bytes":1048576,"lineSize":64,"cpus":[0]}]}})";
  EXPECT_EQ(advisePages(1024, 1, caches).advice[0].way, Way::pad) << "they fit that machine's";
}

TEST(Advise, WhatManyThreadsWriteIsNotSplitOff) {
  const AdviceList list = advisePages(1024, 2);
  ASSERT_FALSE(list.advice.empty());
  EXPECT_NE(list.advice[0].way, Way::split) << "neighbours in its array belong to different threads";
}

}  // namespace
}  // namespace cacheline::advice
