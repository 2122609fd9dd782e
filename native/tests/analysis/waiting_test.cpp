// What accesses wait for: known lines, and random ones of which only some samples are left.
#include "analysis/waiting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "waiting_shapes.h"

namespace cacheline::analysis {
namespace {

using test::Shape;
using test::ShapedLine;
using test::shapes;

Verdict verdictOf(const Waiting& waiting) {
  return analysis::verdictOf(waiting.line.share(), !waiting.victims.empty());
}

ShapedLine shaped(const std::string& name) {
  for (const Shape& shape : shapes())
    if (shape.name == name) return shape.make();
  throw std::runtime_error("no shape " + name);
}

TEST(Waiting, CountersOfThreadsAreFalseSharing) {
  for (const char* name : {"own counters 2", "own counters 8", "written word, readers of another one 4"}) {
    const Waiting waiting = shaped(name).sample(300, 1).waiting();
    EXPECT_EQ(verdictOf(waiting), Verdict::falseSharing) << name;
    EXPECT_TRUE(waiting.line.share().isSure()) << name;
  }
}

TEST(Waiting, WhatIsUsedTogetherIsTrueSharing) {
  for (const char* name : {"one counter 2", "one counter 8", "record and its lock 4", "message 10",
                           "one writer, readers 4", "elements of all 4"}) {
    const Waiting waiting = shaped(name).sample(600, 2).waiting();
    EXPECT_EQ(verdictOf(waiting), Verdict::trueSharing) << name;
    EXPECT_TRUE(waiting.victims.empty()) << name;
  }
}

TEST(Waiting, ReadersBesideLockWordsAreVictimsOfFewSamples) {
  const Waiting waiting = shaped("lock beside readers 2").sample(1000, 3).waiting();
  EXPECT_LT(*waiting.line.share().value, 0.3);
  EXPECT_EQ(verdictOf(waiting), Verdict::mixed);
  ASSERT_FALSE(waiting.victims.empty());
  for (const WaitVictim& victim : waiting.victims) EXPECT_DOUBLE_EQ(victim.falseShare, 1);
}

TEST(Waiting, ReadersOfADescriptorWaitForItsState) {
  const Waiting waiting = shaped("descriptor 4").sample(1000, 4).waiting();
  ASSERT_EQ(waiting.words.size(), 4u);
  EXPECT_EQ(waiting.words[0].group, waiting.words[1].group);
  EXPECT_EQ(waiting.words[2].group, waiting.words[3].group);
  EXPECT_NE(waiting.words[0].group, waiting.words[2].group);
  ASSERT_EQ(waiting.victims.size(), 1u);
  EXPECT_EQ(waiting.victims[0].words, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(waiting.victims[0].visitors.size(), 4u);
  EXPECT_GE(waiting.victims[0].falseShare, 0.95);
}

TEST(Waiting, AConsumerWaitsFalselyAtItsOwnIndexAndTrulyAtTheOther) {
  // Words 0 and 1 are the producer's and the consumer's index. Each changes its own and reads the other.
  ShapedLine line;
  line.use(0, 0, ShapedLine::writes, 1, 1).use(0, 8, ShapedLine::reads, 1, 1);
  line.use(1, 8, ShapedLine::writes, 1, 2).use(1, 0, ShapedLine::reads, 1, 2);
  line.use(1, 8, ShapedLine::reads, 1, 3);  // the consumer's own
  const Waiting waiting = line.sample(2000, 5).waiting();
  ASSERT_EQ(waiting.words.size(), 2u);
  EXPECT_EQ(verdictOf(waiting), Verdict::mixed);
  ASSERT_EQ(waiting.victims.size(), 1u);
  EXPECT_EQ(waiting.victims[0].words, (std::vector<uint32_t>{1}));
  EXPECT_EQ(waiting.victims[0].visitors, (std::vector<uint32_t>{1}));
  EXPECT_DOUBLE_EQ(waiting.victims[0].falseShare, 1);
}

TEST(Waiting, AWordOfFewSamplesGoesWithThoseThatUseIt) {
  // A channel: words 0 and 16 are the producer's and the consumer's index, 8 and 24 their last looks at the
  // other's, of which hardly one is sampled. Many slots make differences of so few samples undecided.
  for (const double producer : {0.7, 1.4}) {
    int looks = 0;
    for (uint32_t seed = 1; seed <= 20; ++seed) {
      ShapedLine line;
      line.use(0, 0, ShapedLine::locks, 1000 * producer).use(1, 0, ShapedLine::reads, 2);
      line.use(1, 16, ShapedLine::locks, 1000).use(0, 16, ShapedLine::reads, 2);
      line.use(0, 8, ShapedLine::reads).use(1, 24, ShapedLine::reads);
      for (uint32_t slot = 0; slot < 100; ++slot)
        line.use(0, 32 + 8 * slot, ShapedLine::writes, 0.3).use(1, 32 + 8 * slot, ShapedLine::reads, 0.3);
      const Waiting waiting = line.sample(2500, seed).waiting();
      std::map<uint32_t, uint32_t> group;  // by offset
      for (const LineWord& word : waiting.words) group[word.offset] = word.group;
      for (const auto& [look, other] : {std::pair(8u, 16u), {24u, 0u}}) {
        if (!group.contains(look)) continue;
        ++looks;
        EXPECT_NE(group[look], group[other]) << producer << ' ' << seed << ' ' << look;
      }
    }
    EXPECT_GT(looks, 20);
  }
}

TEST(Waiting, ReadsWaitForWritesAlone) {
  // The reader of the written word waits for its writer; another one reads what nobody writes.
  ShapedLine line;
  line.use(0, 0, ShapedLine::writes).use(1, 0, ShapedLine::reads).use(2, 8, ShapedLine::reads);
  const Waiting waiting = line.sample(900, 6).waiting();
  double ofWord1 = 0;
  for (const WaitCause& cause : waiting.causes) {
    if (cause.word == 1) ofWord1 += cause.share;
    EXPECT_FALSE(cause.word == 1 && cause.cause == 1);
    EXPECT_EQ(cause.falsely, cause.word == cause.cause ? 0 : 1);
  }
  EXPECT_NEAR(ofWord1, 1.0 / 3, 0.05);
}

/// Thread 0 uses word 0, thread 1 word 8; a sample of each use as often as `often` says.
WaitVictim firstVictim(const std::vector<WordStatistics>& uses, const std::vector<uint32_t>& often) {
  std::vector<PlaceSample> samples;
  for (uint32_t round = 0; round < 20; ++round)
    for (uint32_t i = 0; i < *std::ranges::max_element(often); ++i)
      for (uint32_t use = 0; use < uses.size(); ++use)
        if (i < often[use]) samples.push_back({use, uses[use].offset == 0 ? 0u : 1u});
  const std::vector<Visitor> visitors{{0, 0}, {1, 1}};
  const std::vector<std::vector<bool>> compete(2, std::vector<bool>(2, true));
  const Waiting waiting = waitingOf({uses, samples, visitors, &compete});
  for (const WaitVictim& victim : waiting.victims)
    if (victim.words.front() == 0) return victim;
  throw std::runtime_error("nobody waits at word 0");
}

TEST(Waiting, WhatAFunctionReadsWaitsForAWriteThoughTheFunctionWritesToo) {
  // Both functions read their word before they write it, and most samples are at the loads.
  const std::vector<WordStatistics> uses{{0, 8, true, false, false, 1, 1},
                                         {0, 8, false, true, false, 2, 1},
                                         {8, 8, true, false, false, 3, 2},
                                         {8, 8, false, true, false, 4, 2}};
  WaitVictim victim = firstVictim(uses, {9, 2, 9, 2});
  EXPECT_EQ(victim.use, 0u);
  EXPECT_EQ(victim.cause, 3u);
  // Most of it waits to write: for whatever the others do.
  victim = firstVictim(uses, {2, 9, 9, 2});
  EXPECT_EQ(victim.use, 1u);
  EXPECT_EQ(victim.cause, 2u);
}

TEST(Waiting, IsToldApartByWhetherTheCodeUsesBothWordsInOneStep) {
  // Word 0 is read by two functions alike. Of one of them three quarters are in the block that reads word 1,
  // too: the rest is of the same step. Of the other one it is a quarter.
  const std::vector<WordStatistics> uses{{0, 8, true, false, false, 1, 1},
                                         {0, 8, true, false, false, 2, 1},
                                         {0, 8, true, false, false, 3, 2},
                                         {0, 8, true, false, false, 4, 2},
                                         {8, 8, false, true, false, 5, 3}};
  const std::vector<StepUse> steps{{0, 8, 8}, {0, 8, 8}, {3, 12, 4}, {4, 16, 8}};  // once twice, once outside
  std::vector<PlaceSample> samples;
  for (uint32_t i = 0; i < 10; ++i)
    for (const uint32_t use : {0, 0, 0, 1, 2, 2, 2, 3}) {
      samples.push_back({use, 0});
      samples.push_back({4, 1});
    }
  const std::vector<Visitor> visitors{{0, 0}, {1, 1}};
  const std::vector<std::vector<bool>> compete(2, std::vector<bool>(2, true));
  const Waiting waiting = waitingOf({uses, samples, visitors, &compete, {}, steps});
  ASSERT_EQ(waiting.causes.size(), 2u);
  for (const WaitCause& cause : waiting.causes) {
    EXPECT_NE(cause.word, cause.cause);
    EXPECT_DOUBLE_EQ(cause.sameStep, cause.word == 0 ? 0.5 + 0.5 / 4 : 0);
  }
}

TEST(Waiting, PairsOfUsesAddUpToTheCausesOfWords) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const Waiting waiting = shape.make().sample(600, 3, 0.3).waiting(true);
    std::map<std::pair<uint32_t, uint32_t>, std::pair<double, double>> ofWords;  // share and false share
    std::vector<double> ofUse(waiting.uses.size());
    for (uint32_t use = 0; use < ofUse.size(); ++use) {
      for (const UseCause& pair : waiting.pairs->of(use)) {
        ofUse[use] += pair.share;
        auto& [share, falsely] = ofWords[{waiting.wordOf[use], waiting.wordOf[pair.cause]}];
        share += pair.share * waiting.uses[use].known / waiting.line.known;
        falsely = pair.falsely;
      }
    }
    EXPECT_EQ(ofWords.size(), waiting.causes.size());
    for (const WaitCause& cause : waiting.causes) {
      const auto& [share, falsely] = ofWords[{cause.word, cause.cause}];
      EXPECT_NEAR(share, cause.share, 1e-9);
      EXPECT_EQ(falsely, cause.falsely);
    }
    for (size_t use = 0; use < ofUse.size(); ++use)
      EXPECT_NEAR(ofUse[use], waiting.uses[use].known > 0 ? 1 : 0, 1e-9);
  }
}

TEST(Waiting, PairsOfManyUsesTakeNoMoreRoomThanTheirSamples) {
  // Two threads with code of their own: 800 million pairs wait.
  constexpr uint32_t kUses = 40'000;
  std::vector<WordStatistics> uses;
  std::vector<PlaceSample> samples;
  for (uint32_t i = 0; i < kUses; ++i) {
    uses.push_back({i / 2 % 8 * 8, 8, true, true, false, i, i % 2});
    samples.push_back({i, i % 2});
  }
  const std::vector<Visitor> visitors{{0, 0}, {1, 1}};
  const std::vector<std::vector<bool>> compete(2, std::vector<bool>(2, true));
  const Waiting waiting = waitingOf({uses, samples, visitors, &compete}, false, true);
  EXPECT_EQ(waiting.pairs->places.size(), samples.size());
  EXPECT_EQ(waiting.pairs->uses.size(), kUses);
  for (const uint32_t use : {0u, kUses - 1}) {
    const std::vector<UseCause> causes = waiting.pairs->of(use);
    ASSERT_EQ(causes.size(), kUses / 2);
    for (const UseCause& each : causes) {
      EXPECT_NE(each.cause % 2, use % 2);
      EXPECT_DOUBLE_EQ(each.share, 2.0 / kUses);
    }
  }
}

TEST(Waiting, WhatNobodyIsSeenToCauseIsUnknown) {
  ShapedLine line;
  line.use(0, 0, ShapedLine::reads).use(1, 8, ShapedLine::reads);
  const Waiting waiting = line.sample(100, 7).waiting();
  const FalseShare share = waiting.line.share();
  EXPECT_EQ(share.value, std::nullopt);
  EXPECT_EQ(share.low, 0);
  EXPECT_EQ(share.high, 1);
  EXPECT_FALSE(share.isSure());
  EXPECT_EQ(verdictOf(waiting), Verdict::mixed);
  for (const auto& use : waiting.shares) EXPECT_EQ(use, std::nullopt);
}

TEST(Waiting, OfOneWordAFewStoresAreEnough) {
  const std::vector<WordStatistics> uses{{0, 8, true, false, false, 1, 1}, {0, 8, false, true, false, 2, 2}};
  std::vector<PlaceSample> samples(40, {0, 0});
  samples.push_back({1, 1, false});
  const std::vector<Visitor> visitors{{0, 0}, {1, 1}};
  const std::vector<std::vector<bool>> compete(2, std::vector<bool>(2, true));
  const Waiting waiting = waitingOf({uses, samples, visitors, &compete});
  EXPECT_EQ(waiting.line.share().value, 0.0);
  EXPECT_EQ(verdictOf(waiting), Verdict::trueSharing);
}

TEST(Waiting, OfFewStoresItIsNotKnownWhatReadsWaitFor) {
  // A reader of the first word, whose owner stores to both: samples at the first word and at the second.
  for (const auto& [first, second, known] :
       {std::tuple(0u, 2u, false), {2u, 1u, false}, {4u, 4u, true}, {0u, 3u, true}}) {
    const std::vector<WordStatistics> uses{{0, 8, true, false, false, 1, 1},
                                           {0, 8, false, true, false, 2, 2},
                                           {8, 8, false, true, false, 3, 2},
                                           {0, 8, true, false, false, 4, 2},
                                           {8, 8, true, false, false, 5, 2}};
    std::vector<PlaceSample> samples;
    for (uint32_t i = 0; i < 40; ++i) {
      samples.push_back({0, 0});
      for (const uint32_t own : {3u, 4u}) samples.push_back({own, 1, false});
      if (i < first) samples.push_back({1, 1, false});
      if (i < second) samples.push_back({2, 1, false});
    }
    const std::vector<Visitor> visitors{{0, 0}, {1, 1}};
    const std::vector<std::vector<bool>> compete(2, std::vector<bool>(2, true));
    const Waiting waiting = waitingOf({uses, samples, visitors, &compete});
    EXPECT_EQ(waiting.line.known > 0, known) << first << ' ' << second;
    EXPECT_NE(waiting.line.share().value.has_value(), !known);
  }
}

TEST(Waiting, WordsThatOneAccessCoversAreOne) {
  const std::vector<WordStatistics> uses{
      {0, 8, false, true, false, 1, 1}, {8, 8, false, true, false, 2, 2}, {0, 16, true, false, false, 3, 3}};
  std::vector<PlaceSample> samples;
  for (uint32_t i = 0; i < 90; ++i) samples.push_back({i % 3, i % 3});
  const std::vector<Visitor> visitors{{0, 0}, {1, 1}, {2, 2}};
  const std::vector<std::vector<bool>> compete(3, std::vector<bool>(3, true));
  const Waiting waiting = waitingOf({uses, samples, visitors, &compete});
  ASSERT_EQ(waiting.words.size(), 1u);
  EXPECT_EQ(waiting.words[0].size, 16u);
  EXPECT_EQ(verdictOf(waiting), Verdict::trueSharing);
}

/// Bytes of a line, by an instruction of each of two threads that goes through `bytes` of them, thread 1 from
/// `second` on. `same`: it is one instruction.
Waiting goingThroughBytes(uint32_t bytes, uint32_t second, uint32_t samples, uint32_t seed, bool same) {
  std::vector<WordStatistics> uses;
  std::vector<PlaceSample> taken;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> known;
  std::mt19937 random(seed);
  for (uint32_t i = 0; i < samples; ++i) {
    const uint32_t thread = i % 2;
    const auto offset = static_cast<uint32_t>(random() % bytes) + (thread == 1 ? second : 0);
    const auto [use, isNew] = known.try_emplace({thread, offset}, static_cast<uint32_t>(uses.size()));
    const uint32_t code = same ? 1 : 1 + thread;
    if (isNew) uses.push_back({offset, 1, true, true, false, code, code});
    taken.push_back({use->second, thread});
  }
  const std::vector<Visitor> visitors{{0, 0}, {1, 1}};
  const std::vector<std::vector<bool>> compete(2, std::vector<bool>(2, true));
  return waitingOf({uses, taken, visitors, &compete});
}

/// Eight words, by one instruction of each of two threads: thread 0 changes those before `end`, 1 reads
/// those from `begin` on, of which it waits at the first one so often.
Waiting goingThroughWords(uint32_t end, uint32_t begin, double atFirst, uint32_t samples, uint32_t seed) {
  std::vector<WordStatistics> uses;
  for (uint32_t use = 0; use < 16; ++use)
    uses.push_back({use % 8 * 8, 8, true, use < 8, false, 1 + use / 8, 1 + use / 8});
  std::vector<PlaceSample> taken;
  std::mt19937 random(seed);
  std::bernoulli_distribution waits(atFirst);
  for (uint32_t i = 0; i < samples; ++i) {
    const auto word = static_cast<uint32_t>(random() % (i % 2 == 0 ? end : 8 - begin));
    if (i % 2 == 0)
      taken.push_back({word, 0});
    else
      taken.push_back({8 + begin + (waits(random) ? 0 : word), 1});
  }
  const std::vector<Visitor> visitors{{0, 0}, {1, 1}};
  const std::vector<std::vector<bool>> compete(2, std::vector<bool>(2, true));
  return waitingOf({uses, taken, visitors, &compete});
}

TEST(Waiting, WhoGoesThroughALineWaitsAtItsFirstWord) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    for (const double atFirst : {0.5, 0.8, 0.95}) {
      const Waiting waiting = goingThroughWords(8, 0, atFirst, 300, seed);
      EXPECT_EQ(verdictOf(waiting), Verdict::trueSharing) << atFirst << ' ' << seed;
      EXPECT_LE(*waiting.line.share().value, 0.02) << atFirst << ' ' << seed;
    }
  }
}

TEST(Waiting, HalvesThatShareOneWordStayApart) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const Waiting waiting = goingThroughWords(5, 4, 0.5, 600, seed);
    EXPECT_GE(*waiting.line.share().value, 0.3) << seed;
    EXPECT_NE(waiting.words.front().group, waiting.words.back().group) << seed;
  }
}

TEST(Waiting, OneBufferWithFewSamplesIsNotHalfFalse) {
  // Of the many lines of a ring each has some. What their waiting adds up to is the ring's.
  for (const uint32_t samples : {10u, 16u, 30u}) {
    WaitSum sum;
    for (uint32_t seed = 1; seed <= 200; ++seed) sum.add(goingThroughWords(8, 0, 0, samples, seed).line);
    EXPECT_LE(*sum.share().value, 0.03) << samples;
  }
}

TEST(Waiting, IsTheSameHoweverThreadsAreNumbered) {
  // One thread reads both words; the other one reads and writes both, and was sampled at one read alone.
  const std::vector<WordStatistics> uses{{0, 8, true, false, false, 1, 1},
                                         {8, 8, true, false, false, 2, 1},  // the reader's
                                         {0, 8, true, true, false, 3, 2},
                                         {8, 8, false, true, false, 4, 2}};  // the writer's
  std::vector<PlaceSample> samples;
  for (uint32_t i = 0; i < 80; ++i) samples.push_back({i % 4, i % 4 / 2});
  const std::vector<KnownUse> known{{0, 8, 1, true, true}, {8, 8, 1, true, true}};
  const std::vector<std::vector<bool>> compete(2, std::vector<bool>(2, true));
  for (const std::vector<Visitor>& visitors : {std::vector<Visitor>{{0, 0}, {1, 1}}, {{0, 1}, {1, 0}}}) {
    const Waiting waiting = waitingOf({uses, samples, visitors, &compete, known});
    EXPECT_EQ(verdictOf(waiting), Verdict::trueSharing) << visitors[0].thread;
    EXPECT_DOUBLE_EQ(*waiting.line.share().value, 0) << visitors[0].thread;
  }
}

TEST(Waiting, BuffersSideBySideAreToldApartByTheirCode) {
  for (uint32_t seed = 1; seed <= 20; ++seed)
    for (const bool same : {false, true})
      EXPECT_EQ(verdictOf(goingThroughBytes(32, 32, 66, seed, same)), Verdict::falseSharing) << seed << same;
}

TEST(Waiting, OneBufferThatTwoGoThroughIsNotTakenApart) {
  for (const uint32_t bytes : {8u, 16u, 64u})
    for (uint32_t seed = 1; seed <= 20; ++seed)
      for (const uint32_t samples : {6u, 20u, 66u, 400u})
        for (const bool same : {false, true})
          EXPECT_NE(verdictOf(goingThroughBytes(bytes, 0, samples, seed, same)), Verdict::falseSharing)
              << bytes << ' ' << samples << ' ' << seed << ' ' << same;
}

TEST(Waiting, GoroutinesOfOneThreadDoNotWaitForEachOther) {
  // Two goroutines share a word on thread 0; another one on thread 1 has its own word.
  const std::vector<WordStatistics> uses{{0, 8, true, true, false, 1, 1}, {8, 8, true, true, false, 2, 2}};
  std::vector<PlaceSample> samples;
  for (uint32_t i = 0; i < 120; ++i) samples.push_back({i % 3 == 2, i % 3});
  const std::vector<Visitor> visitors{{0, 0}, {1, 0}, {2, 1}};
  const std::vector<std::vector<bool>> compete(3, std::vector<bool>(3, true));
  const Waiting waiting = waitingOf({uses, samples, visitors, &compete});
  EXPECT_DOUBLE_EQ(*waiting.line.share().value, 1);
}

TEST(Waiting, WordsOfThreadsStayApartForGoroutinesThatMove) {
  const std::vector<WordStatistics> uses{{0, 8, true, true, false, 1, 1}, {8, 8, true, true, false, 1, 1}};
  std::vector<PlaceSample> samples;
  for (uint32_t i = 0; i < 200; ++i) samples.push_back({i % 2, i % 4});
  const std::vector<Visitor> visitors{{0, 0}, {1, 1}, {1, 0}, {0, 1}};
  const std::vector<std::vector<bool>> compete(2, std::vector<bool>(2, true));
  EXPECT_EQ(verdictOf(waitingOf({uses, samples, visitors, &compete})), Verdict::falseSharing);
}

// An owner's locked instructions cost nearly as much alone.

double contendedOf(const Waiting& waiting) {
  double sum = 0;
  for (const double samples : waiting.contended) sum += samples;
  return sum;
}

TEST(Alternation, ALockedOwnerWithARareReaderHardlyCounts) {
  ShapedLine line;
  line.use(0, 0, ShapedLine::locks, 99).use(1, 0, ShapedLine::reads, 1);
  const Waiting waiting = line.sample(2000, 8).waiting();
  EXPECT_LT(contendedOf(waiting), 100);
  EXPECT_GT(contendedOf(waiting), 20) << "the reader's samples and as many of the owner";
}

TEST(Alternation, LockedInstructionsOfSeveralWritersCountInFull) {
  EXPECT_DOUBLE_EQ(contendedOf(shaped("one counter 2").sample(500, 9).waiting()), 500);
  EXPECT_DOUBLE_EQ(contendedOf(shaped("record and its lock 4").sample(500, 9).waiting()), 500);
}

TEST(Alternation, OwnersThatTakeTurnsCountInFull) {
  EXPECT_NEAR(contendedOf(shaped("own counters 2").sample(2000, 10).waiting()), 2000, 60);
  EXPECT_DOUBLE_EQ(contendedOf(shaped("own counters 4").sample(2000, 10).waiting()), 2000);
}

TEST(Alternation, PlainStoresAndReadsAreNeverDiscounted) {
  for (const auto kind : {ShapedLine::writes, ShapedLine::changes}) {
    ShapedLine line;
    line.use(0, 0, kind, 99).use(1, 8, ShapedLine::reads, 1);
    EXPECT_DOUBLE_EQ(contendedOf(line.sample(1000, 11).waiting()), 1000);
  }
  ShapedLine rareWriter;
  rareWriter.use(0, 0, ShapedLine::writes, 1)
      .use(1, 8, ShapedLine::reads, 50)
      .use(2, 8, ShapedLine::reads, 50);
  EXPECT_DOUBLE_EQ(contendedOf(rareWriter.sample(1000, 12).waiting()), 1000);
}

// The same line with fewer samples.

class Thinned : public ::testing::TestWithParam<double> {};

TEST_P(Thinned, KeepsWhatAllSamplesSayWithinItsBounds) {
  constexpr uint32_t kThinnings = 200;
  const double part = GetParam();
  uint32_t all = 0, within = 0;
  std::vector<double> widths;
  for (const size_t samples : {200u, 1000u}) {
    uint32_t seed = 0;
    for (const Shape& shape : shapes()) {
      ++seed;
      const ShapedLine full = shape.make().sample(samples, seed, seed % 2 == 0 ? 0.5 : 0);
      const Waiting waiting = full.waiting();
      const FalseShare share = waiting.line.share();
      const Verdict verdict = verdictOf(waiting);
      ASSERT_TRUE(share.value) << shape.name;
      if (samples == 200) widths.push_back(share.high - share.low);
      for (uint32_t i = 0; i < kThinnings / 2; ++i) {
        const Waiting less = full.thinned(part, 1000 * seed + i).waiting();
        const FalseShare bounds = less.line.share();
        ++all;
        within += bounds.low <= *share.value && *share.value <= bounds.high;
        const Verdict now = verdictOf(less);
        EXPECT_FALSE(verdict == Verdict::falseSharing && now == Verdict::trueSharing)
            << shape.name << " " << i;
        EXPECT_FALSE(verdict == Verdict::trueSharing && now == Verdict::falseSharing)
            << shape.name << " " << i;
      }
    }
  }
  EXPECT_GE(within, all * 0.9);
  std::sort(widths.begin(), widths.end());
  EXPECT_LE(widths[widths.size() / 2], 0.3);
}

INSTANTIATE_TEST_SUITE_P(Parts, Thinned, ::testing::Values(0.5, 0.25, 0.1));

}  // namespace
}  // namespace cacheline::analysis
