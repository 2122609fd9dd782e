// The judge of the self-test: the known answer, and everything that is not it.
#include "analysis/self_test.h"

#include <gtest/gtest.h>

namespace cacheline::analysis {
namespace {

Access access(const std::string& object, const std::string& field, uint64_t offset) {
  Access made;
  made.data.object = object;
  made.data.field = field;
  made.data.offset = offset;
  return made;
}

Report answer() {
  Report report;
  report.samples = 500;
  Line line;
  line.verdict = Verdict::falseSharing;
  line.contended = 400;
  line.accesses = {access("queue", "produced", 0), access("queue", "consumed", 8)};
  line.threads = {{1, 2, "a", 0, 200, true}, {1, 3, "a", 0, 200, true}, {1, 1, "a", 1, 0, false}};
  report.lines = {line};
  return report;
}

TEST(SelfTest, KnowsTheAnswer) {
  const SelfTestFinding finding = judgeSelfTest(answer());
  EXPECT_TRUE(finding.passed);
  EXPECT_EQ(finding.sentence,
            "false sharing between 2 threads at queue.consumed and queue.produced, 400 of 500 samples");
}

TEST(SelfTest, WithoutTypesItNamesOffsets) {
  Report report = answer();
  for (Access& row : report.lines[0].accesses) row.data.field.clear();
  EXPECT_NE(judgeSelfTest(report).sentence.find("queue+0 and queue+8"), std::string::npos);
}

TEST(SelfTest, AMissIsSaid) {
  EXPECT_EQ(judgeSelfTest({}).sentence, "the contended line of 'queue' was not found in 0 samples");
  Report report = answer();
  report.lines[0].verdict = Verdict::mixed;
  EXPECT_EQ(judgeSelfTest(report).sentence,
            "'queue' was judged mixed instead of false sharing, in 500 samples");
  report = answer();
  report.lines[0].threads[1].competes = false;
  EXPECT_NE(judgeSelfTest(report).sentence.find("competing threads: 1,"), std::string::npos);
  report = answer();
  report.lines[0].accesses.push_back(access("queue", "", 16));
  EXPECT_FALSE(judgeSelfTest(report).passed);
}

TEST(SelfTest, AnAccusedBystanderIsAMiss) {
  Report report = answer();
  Line quiet;
  quiet.accesses = {access("bystander", "count", 0)};
  report.lines.push_back(quiet);
  EXPECT_TRUE(judgeSelfTest(report).passed) << "a private line is no accusation";
  report.lines[1].contended = 5;
  EXPECT_NE(judgeSelfTest(report).sentence.find("'bystander'"), std::string::npos);
  EXPECT_FALSE(judgeSelfTest(report).passed);
}

TEST(SelfTest, WatchpointsHaveToConfirm) {
  Report report = answer();
  EXPECT_EQ(judgeWatchSelfTest(report).sentence, "no access to 'queue' was trapped");
  report.lines[0].confirmation = Confirmation{false, "only 1 of 2 words was seen in 12 ms", {}, 0};
  EXPECT_FALSE(judgeWatchSelfTest(report).passed);
  EXPECT_EQ(judgeWatchSelfTest(report).sentence, "not confirmed: only 1 of 2 words was seen in 12 ms");
  report.lines[0].confirmation->confirmed = true;
  EXPECT_TRUE(judgeWatchSelfTest(report).passed);
  report.lines[0].verdict = Verdict::trueSharing;
  EXPECT_FALSE(judgeWatchSelfTest(report).passed) << "the samples have to be right, too";
}

}  // namespace
}  // namespace cacheline::analysis
