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

}  // namespace
}  // namespace cacheline::c2c::test
