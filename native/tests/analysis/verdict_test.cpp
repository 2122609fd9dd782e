// Who competes, and the flags of judge().
#include "analysis/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/line_verdict.h"
#include "interleaving.h"

namespace cacheline::analysis {
namespace {

using test::Interleaving;

ByteMask bytes(size_t from, size_t count) {
  ByteMask mask;
  for (size_t i = 0; i < count; ++i) mask.set(from + i);
  return mask;
}

class Judge : public ::testing::Test {
 protected:
  LineActor& thread(char name) {
    actors_.push_back({timeline_.runs(name), {}, {}, static_cast<uint32_t>(name)});
    return actors_.back();
  }
  Judgement judged() const { return judge(actors_); }

  Interleaving timeline_{"ABCABCABCABCABCABC" + std::string(50, 'D') + std::string(50, 'E')};
  std::vector<LineActor> actors_;
};

TEST_F(Judge, OneThreadIsPrivate) {
  thread('A').written = bytes(0, 8);
  EXPECT_FALSE(judged().competing);
  EXPECT_FALSE(judged().competes[0]);
}

TEST_F(Judge, ThreadsOneAfterTheOtherArePrivate) {
  thread('D').written = bytes(0, 8);
  thread('E').written = bytes(0, 8);
  EXPECT_FALSE(judged().competing);
}

TEST_F(Judge, ReadersAloneAreReadShared) {
  thread('A').read = bytes(0, 8);
  thread('B').read = bytes(0, 8);
  EXPECT_TRUE(judged().competing);
  EXPECT_FALSE(judged().contended());
  EXPECT_TRUE(judged().competes[0] && judged().competes[1]);
}

TEST_F(Judge, AWriterThatDoesNotCompeteLeavesTheOthersReadShared) {
  thread('D').written = bytes(0, 64);
  thread('A').read = bytes(0, 8);
  thread('B').read = bytes(0, 8);
  EXPECT_TRUE(judged().competing);
  EXPECT_FALSE(judged().contended());
  EXPECT_FALSE(judged().competes[0]);
}

TEST_F(Judge, AWriterAmongThoseThatCompeteMakesItContended) {
  thread('A').written = bytes(0, 8);
  thread('B').read = bytes(8, 8);
  EXPECT_TRUE(judged().contended());
  actors_[0].written.reset();
  EXPECT_FALSE(judged().contended());
  EXPECT_TRUE(judge(actors_, {.written = true}).contended()) << "somebody is known to write";
}

TEST_F(Judge, ActorsOfOneThreadDoNotCompete) {
  thread('A').written = bytes(0, 8);
  thread('B').written = bytes(0, 8);
  EXPECT_TRUE(judged().competing);
  actors_[1].thread = actors_[0].thread;
  EXPECT_FALSE(judged().competing);
  for (LineActor& actor : actors_) actor.thread = LineActor::kNoThread;
  EXPECT_TRUE(judged().competing) << "each was seen on several threads";
}

TEST(JudgePairs, AreToldApart) {
  // A and C compete, then B and C; A and B never use the line at the same time.
  std::string text;
  for (int i = 0; i < 100; ++i) text += "AC";
  for (int i = 0; i < 100; ++i) text += "BC";
  const Interleaving timeline(text);
  std::vector<LineActor> actors;
  for (const char name : {'A', 'B', 'C'}) actors.push_back({timeline.runs(name), {}, {}});
  const Judgement judgement = judge(actors);
  EXPECT_EQ(judgement.competes, (std::vector<bool>{true, true, true}));
  EXPECT_FALSE(judgement.pairs[0][1]);
  EXPECT_TRUE(judgement.pairs[0][2] && judgement.pairs[2][0] && judgement.pairs[1][2]);
}

TEST(JudgePairs, OfManyActorsThoseWithMostSamplesAreCompared) {
  Interleaving timeline("ABABABABABABABAB");
  std::vector<LineActor> actors(kMostActors, {{{0, 1000, kNoPause, 4}}, {}, {}, {}});
  for (const char name : {'A', 'B'}) actors.push_back({timeline.runs(name), {}, bytes(0, 8)});
  const Judgement judgement = judge(actors);
  EXPECT_TRUE(judgement.competes[kMostActors] && judgement.competes[kMostActors + 1]);
  EXPECT_EQ(judgement.leftOut, 2u);
}

/// A process may have any number of threads: neither time nor memory is for each pair of them.
TEST(JudgePairs, OfAnyNumberOfActorsTakeMemoryForThoseThatAreCompared) {
  Interleaving timeline("ABABABABABABABAB");
  std::vector<LineActor> actors(20'000, {timeline.runs('A'), bytes(8, 8), bytes(0, 8)});
  for (size_t i = 0; i < actors.size(); i += 2) actors[i].runs = timeline.runs('B');
  LineAccesses line;
  line.actors = actors;
  line.uses = {{.offset = 0, .width = 8, .writes = true}, {.offset = 8, .width = 8, .reads = true}};
  for (uint32_t i = 0; i < actors.size(); ++i) {
    line.actors[i].thread = i;
    line.visitors.push_back({i, i});
    line.samples.push_back({i % 2, i, true});
  }
  const LineVerdict verdict = judgeLine(line);
  EXPECT_EQ(verdict.judgement.leftOut, actors.size() - kMostActors);
  EXPECT_EQ(std::ranges::count(verdict.judgement.competes, true), kMostActors);
  size_t bits = 0;
  for (const std::vector<bool>& row : verdict.judgement.pairs) bits += row.size();
  EXPECT_EQ(bits, kMostActors * actors.size());
  EXPECT_TRUE(isContended(verdict.verdict));
  EXPECT_EQ(verdict.waiting->line.waiting, kMostActors);
  EXPECT_EQ(leftOutOfPairs(0), "");
  EXPECT_EQ(leftOutOfPairs(2).substr(0, 37), "2 lines are used by more than 512 thr");
}

/// Victims are visitors of the line, also where others before them compete with nobody.
TEST(JudgePairs, VictimsAreNumberedAsTheLinesVisitors) {
  Interleaving timeline("ABABABABABABABABABABABABABABABAB");
  LineAccesses line;
  line.uses = {{.offset = 0, .width = 8, .writes = true, .code = 1, .function = 1},
               {.offset = 8, .width = 8, .reads = true, .code = 2, .function = 2}};
  line.actors = {{{{0, 0, kNoPause, 1}}, {}, bytes(0, 8)},
                 {timeline.runs('A'), {}, bytes(0, 8)},
                 {timeline.runs('B'), bytes(8, 8), {}}};
  for (uint32_t i = 0; i < 3; ++i) {
    line.actors[i].thread = i;
    line.visitors.push_back({i, i});
  }
  for (int i = 0; i < 40; ++i) {
    line.samples.push_back({0, 1, true});
    line.samples.push_back({1, 2, true});
  }
  const LineVerdict verdict = judgeLine(line);
  ASSERT_TRUE(verdict.waiting);
  ASSERT_FALSE(verdict.waiting->victims.empty());
  for (const WaitVictim& victim : verdict.waiting->victims)
    EXPECT_FALSE(std::ranges::count(victim.visitors, 0u)) << "the one that competes with nobody";
  EXPECT_EQ(verdict.waiting->victims.back().visitors, std::vector<uint32_t>{2});
}

TEST_F(Judge, MixedUseIsAWrittenWordBesideMembersOthersOnlyRead) {
  thread('A').written = bytes(0, 8);
  thread('B').read = bytes(16, 8);
  EXPECT_TRUE(judged().contended());
  EXPECT_TRUE(judged().mixedUse);
}

TEST_F(Judge, OwnReadsOfTheWriterAreNoMixedUse) {
  LineActor& a = thread('A');
  a.written = bytes(0, 8);
  a.read = bytes(0, 24);
  thread('B').written = bytes(32, 8);
  // B writes and A reads bytes 8 to 23, which nobody writes: that is mixed use of the line by A.
  EXPECT_TRUE(judged().mixedUse);
  actors_[0].read = bytes(0, 8);
  EXPECT_FALSE(judged().mixedUse);
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
