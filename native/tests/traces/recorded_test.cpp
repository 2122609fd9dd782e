// trace.jsonl, whole and damaged.
#include "traces/recorded.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cacheline::traces {
namespace {

const std::string kHead =
    R"({"type":"packet","member":"","size":32,"words":[{"offset":0,"length":8},{"offset":8,"length":4}]})"
    "\n";
const std::string kObject =
    R"({"pid":7,"address":"0x1000","name":"","block":"0x1000","blockSize":32,)"
    R"("allocated":{"ns":100,"tid":8,"cpu":1,"frames":[4198400,4198500]},)"
    R"("freed":{"ns":900,"tid":9,"cpu":0,"frames":[]},"start":100,"end":900,"words":[1,0],"hits":3,"cut":""})"
    "\n";
const std::string kEnd = R"({"elapsedNs":1000000,"costNs":20000,"refused":2})"
                         "\n";

TEST(RecordedTrace, IsReadBack) {
  const RecordedTrace trace = parseTrace(kHead + kObject + kEnd);
  EXPECT_EQ(trace.type, "packet");
  ASSERT_EQ(trace.words.size(), 2u);
  EXPECT_EQ(trace.words[1].length, 4u);
  ASSERT_EQ(trace.objects.size(), 1u);
  EXPECT_EQ(trace.objects[0].words, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(trace.objects[0].allocated->frames.size(), 2u);
  EXPECT_EQ(trace.objects[0].freed->cpu, 0u);
  EXPECT_EQ(trace.elapsedNs, 1000000u);
  EXPECT_EQ(trace.costNs, 20000u);
  EXPECT_TRUE(trace.warnings.empty());
}

TEST(RecordedTrace, AKilledRecorderLeavesWholeLines) {
  const RecordedTrace trace = parseTrace(kHead + kObject + kObject.substr(0, 40));
  EXPECT_EQ(trace.objects.size(), 1u);
  EXPECT_FALSE(trace.elapsedNs.has_value());
  EXPECT_TRUE(trace.warnings.empty());
}

TEST(RecordedTrace, DamagedLinesAreCounted) {
  std::string outside = kObject;
  outside.replace(outside.find("[1,0]"), 5, "[2,0]");  // there are two words
  std::string backwards = kObject;
  backwards.replace(backwards.find("\"end\":900"), 9, "\"end\":99");
  const RecordedTrace trace = parseTrace(kHead + outside + backwards + "{}\n" + "\xff\n" + kObject);
  EXPECT_EQ(trace.objects.size(), 1u);
  EXPECT_EQ(trace.warnings, std::vector<std::string>{"4 lines of trace.jsonl cannot be read."});
}

TEST(RecordedTrace, WithoutItsHeadItIsNone) {
  EXPECT_THROW(parseTrace(""), Error);
  EXPECT_THROW(parseTrace(kObject), Error);
  EXPECT_THROW(parseTrace("[1]\n"), Error);
  EXPECT_THROW(readTrace("/nowhere"), Error);
}

}  // namespace
}  // namespace cacheline::traces
