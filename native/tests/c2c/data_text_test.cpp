// What the tables call data.
#include "c2c/data_text.h"

#include <gtest/gtest.h>

namespace cacheline::c2c::test {
namespace {

using analysis::DataName;

std::string textOf(const DataName& data) {
  std::string text;
  appendDataText(text, data, 0x1000);
  return text;
}

TEST(DataText, MembersOfUnnamedMemoryAreNamedByType) {
  DataName data;
  data.type = "rq";
  data.field = "lock";
  data.fieldOffset = 16;
  for (const char* memory : {"[heap]", "[stack]", "anonymous 0x1000", analysis::kKernelMemory}) {
    data.object = memory;
    EXPECT_EQ(textOf(data), "rq.lock") << memory;
  }
  data.object = "runqueues";
  EXPECT_EQ(textOf(data), "runqueues.lock");
}

TEST(DataText, AMemberOfAnElementThatNobodyKnowsIsAMember) {
  DataName data;
  data.object = "[heap]";
  data.type = "verb_stats";
  data.field = "verb[?].hits";
  EXPECT_EQ(textOf(data), "verb_stats.verb[?].hits");
  data.field.clear();
  EXPECT_EQ(textOf(data), "verb_stats+0") << "nothing is known of the member";
}

TEST(DataText, ObjectsInMappedFilesAreNamedByType) {
  DataName data;
  data.object = "data.mdb";
  data.how = analysis::How::code;
  data.type = "Page";
  data.field = "flags";
  EXPECT_EQ(textOf(data), "Page.flags");
}

TEST(DataText, ManyElementsAreRanges) {
  analysis::Line line;
  for (uint64_t i = 0; i < 4; ++i)
    for (const char* member : {"hits", "misses"}) {
      analysis::Access& access = line.accesses.emplace_back();
      access.memory.emplace();
      access.data.object = "[heap]";
      access.data.type = "Shards";
      access.data.field = "slots[" + std::to_string(i) + "]." + member;
      access.data.fieldOffset = i;
      access.data.index = i;
    }
  EXPECT_EQ(lineDataText(line, Displayed(analysis::Report())),
            "Shards.slots[0..3].hits, Shards.slots[0..3].misses");
}

}  // namespace
}  // namespace cacheline::c2c::test
