// The five verdicts and the flags of judge().
#include "analysis/verdict.h"

#include <gtest/gtest.h>

#include <string>

#include "timeline.h"

namespace cacheline::analysis {
namespace {

using test::Timeline;

ByteMask bytes(size_t from, size_t count) {
  ByteMask mask;
  for (size_t i = 0; i < count; ++i) mask.set(from + i);
  return mask;
}

class Judge : public ::testing::Test {
 protected:
  LineThread& thread(char name) {
    threads_.push_back({timeline_.runs(name), {}, {}, {}});
    return threads_.back();
  }
  Judgement judged() const { return judge(threads_); }

  Timeline timeline_{"ABCABCABCABCABCABC" + std::string(50, 'D') + std::string(50, 'E')};
  std::vector<LineThread> threads_;
};

TEST_F(Judge, OneThreadIsPrivate) {
  thread('A').written = bytes(0, 8);
  EXPECT_EQ(judged().verdict, Verdict::privateLine);
  EXPECT_FALSE(judged().competes[0]);
}

TEST_F(Judge, ThreadsOneAfterTheOtherArePrivate) {
  thread('D').written = bytes(0, 8);
  thread('E').written = bytes(0, 8);
  EXPECT_EQ(judged().verdict, Verdict::privateLine);
}

TEST_F(Judge, ReadersAloneAreReadShared) {
  thread('A').read = bytes(0, 8);
  thread('B').read = bytes(0, 8);
  EXPECT_EQ(judged().verdict, Verdict::readShared);
  EXPECT_TRUE(judged().competes[0] && judged().competes[1]);
}

TEST_F(Judge, AWriterThatDoesNotCompeteLeavesTheOthersReadShared) {
  thread('D').written = bytes(0, 64);
  thread('A').read = bytes(0, 8);
  thread('B').read = bytes(0, 8);
  EXPECT_EQ(judged().verdict, Verdict::readShared);
  EXPECT_FALSE(judged().competes[0]);
}

TEST_F(Judge, DisjointBytesAreFalseSharing) {
  thread('A').written = bytes(0, 8);
  thread('B').written = bytes(8, 8);
  EXPECT_EQ(judged().verdict, Verdict::falseSharing);
  EXPECT_FALSE(judged().mixedUse);
}

TEST_F(Judge, TheSameBytesAreTrueSharing) {
  thread('A').written = bytes(0, 8);
  thread('B').read = bytes(0, 8);
  EXPECT_EQ(judged().verdict, Verdict::trueSharing);
}

TEST_F(Judge, SomeBytesSharedIsMixed) {
  thread('A').written = bytes(0, 8);
  thread('B').read = bytes(0, 4);
  EXPECT_EQ(judged().verdict, Verdict::mixed) << "bytes 4 to 7 belong to A alone";
}

TEST_F(Judge, BytesSharedOnlyWithAThreadThatDoesNotCompeteAreNotShared) {
  thread('A').written = bytes(0, 8);
  thread('B').written = bytes(8, 8);
  thread('D').written = bytes(0, 16);  // set them up
  EXPECT_EQ(judged().verdict, Verdict::falseSharing);
}

TEST(JudgePairs, AByteIsSharedOnlyByThreadsThatCompeteWithEachOther) {
  // A and C compete, then B and C; A and B use byte 0 but never at the same time.
  std::string text;
  for (int i = 0; i < 100; ++i) text += "AC";
  for (int i = 0; i < 100; ++i) text += "BC";
  const Timeline timeline(text);
  std::vector<LineThread> threads;
  for (const char name : {'A', 'B', 'C'}) threads.push_back({timeline.runs(name), {}, {}, {}});
  threads[0].written = bytes(0, 8);
  threads[1].written = bytes(0, 8);
  threads[2].written = bytes(8, 8);
  const Judgement judgement = judge(threads);
  EXPECT_EQ(judgement.verdict, Verdict::falseSharing);
  EXPECT_EQ(judgement.competes, (std::vector<bool>{true, true, true}));
}

TEST_F(Judge, MixedUseIsAWrittenWordBesideMembersOthersOnlyRead) {
  thread('A').written = bytes(0, 8);
  thread('B').read = bytes(16, 8);
  EXPECT_EQ(judged().verdict, Verdict::falseSharing);
  EXPECT_TRUE(judged().mixedUse);
}

TEST_F(Judge, OwnReadsOfTheWriterAreNoMixedUse) {
  LineThread& a = thread('A');
  a.written = bytes(0, 8);
  a.read = bytes(0, 24);
  thread('B').written = bytes(32, 8);
  // B writes and A reads bytes 8 to 23, which nobody writes: that is mixed use of the line by A.
  EXPECT_TRUE(judged().mixedUse);
  threads_[0].read = bytes(0, 8);
  EXPECT_FALSE(judged().mixedUse);
}

TEST_F(Judge, OneSwappingCompetitorIsALock) {
  LineThread& a = thread('A');
  a.read = a.written = bytes(0, 4);
  thread('B').read = bytes(8, 4);
  EXPECT_FALSE(judged().lock);
  threads_[0].swaps = true;
  EXPECT_TRUE(judged().lock);
  threads_.pop_back();
  EXPECT_FALSE(judged().lock) << "nobody competes for it";
}

TEST(VerdictNames, AreThoseOfTheDocumentedOutput) {
  EXPECT_STREQ(verdictName(Verdict::falseSharing), "false sharing");
  EXPECT_STREQ(verdictName(Verdict::trueSharing), "true sharing");
  EXPECT_STREQ(verdictName(Verdict::mixed), "mixed");
  EXPECT_STREQ(verdictName(Verdict::readShared), "read-shared");
  EXPECT_STREQ(verdictName(Verdict::privateLine), "private");
}

}  // namespace
}  // namespace cacheline::analysis
