// Threads that take turns on one CPU do not wait for each other, by whatever says where they ran.
#include "analysis/turns.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/verdict.h"
#include "scenario.h"

namespace cacheline::analysis::test {
namespace {

constexpr uint32_t kPid = 100, kWriter = 101, kOther = 102;

/// A process with two threads that write two words of one line.
class TakingTurns : public ::testing::TestWithParam<bool> {
 protected:
  TakingTurns() : made_(0, GetParam()) {
    made_.start(kPid);
    made_.thread(kPid, kWriter);
    made_.thread(kPid, kOther);
  }
  bool bySwitches() const { return GetParam(); }
  /// A thread comes to a CPU, uses its word some times, and sleeps.
  void step(uint32_t tid, uint32_t cpu, int samples = 1) {
    if (bySwitches()) made_.in(kPid, tid, cpu);
    for (int i = 0; i < samples; ++i) made_.store(kPid, tid, kData + (tid == kWriter ? 0 : 8), cpu);
    if (bySwitches()) made_.blocks(kPid, tid, cpu);
  }
  void handOver(int times, uint32_t writerCpu, uint32_t otherCpu) {
    for (int i = 0; i < times; ++i) {
      step(kWriter, writerCpu);
      step(kOther, otherCpu);
    }
  }
  Scenario made_;
};

INSTANTIATE_TEST_SUITE_P(By, TakingTurns, ::testing::Bool(),
                         [](const auto& by) { return by.param ? "switches" : "samples"; });

TEST_P(TakingTurns, OnOneCpuAreNotContended) {
  handOver(30, 2, 2);
  const Report report = made_.report(true);
  expectTotals(report);
  const Line* const line = lineAt(report, kData);
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->verdict, Verdict::privateLine);
  EXPECT_EQ(line->flags, std::vector<std::string>{"turns"});
  EXPECT_EQ(report.contended, 0u);
  ASSERT_TRUE(report.turns);
  EXPECT_EQ(report.turns->by, bySwitches() ? RanBy::switches : RanBy::samples);
  EXPECT_EQ(report.turns->samples, 60u);
  EXPECT_EQ(report.turns->lines, 1u);
  EXPECT_EQ(report.turns->oneCore, 0u);
  EXPECT_EQ(report.turns->threads, 2u);
}

/// While one writes, the other one sleeps; the line moves all the same.
TEST_P(TakingTurns, AHandOverBetweenCpusIsContended) {
  handOver(30, 0, 1);
  const Report report = made_.report();
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].verdict, Verdict::falseSharing);
  EXPECT_TRUE(report.lines[0].flags.empty());
  EXPECT_EQ(report.contended, 60u);
  EXPECT_EQ(report.turns->samples + report.contended, 60u);
}

TEST_P(TakingTurns, OnlyWhatHappensOnSeveralCpusIsContended) {
  handOver(40, 0, 0);
  handOver(10, 0, 1);
  handOver(40, 0, 0);
  const Report report = made_.report();
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_TRUE(isContended(report.lines[0].verdict));
  EXPECT_GE(report.contended, 18u);
  EXPECT_LE(report.contended, 22u);
  EXPECT_EQ(report.turns->lines, 0u);
  // Before its first sample, nothing says that a thread was at work.
  EXPECT_GE(report.turns->samples + report.contended, 178u);
  EXPECT_LE(report.turns->samples + report.contended, 180u);
}

/// Tables and lanes of threads have the waiting when it was.
TEST_P(TakingTurns, PartsOfTheTimeHaveTheirOwnWaiting) {
  handOver(40, 0, 0);
  handOver(10, 0, 1);
  handOver(40, 0, 0);
  const Recording recording = openRecording(made_.write());
  std::vector<std::string> documents;
  for (const unsigned threads : {1u, 4u}) {
    const auto reader = perfdata::Reader::open(recording.perfData);
    const Report report =
        sharing::analyze(*reader, recording,
                         {.showAll = true, .splits = SplitBy{.cpus = true, .bins = 9}, .threads = threads});
    documents.push_back(reportJson(report));
    uint64_t within = 0, beside = 0;
    for (const Line& line : report.lines)
      for (const Access& access : line.accesses)
        for (const AccessSplit& split : access.splits)
          (split.place.bin == 4 ? within : beside) += split.contended;
    EXPECT_EQ(within + beside, report.contended);
    EXPECT_GE(within, 16u);
    EXPECT_LE(beside, 4u) << "bins do not begin exactly where the threads move";
  }
  EXPECT_EQ(documents[0], documents[1]);
}

/// Both go to another CPU, and back: each time one of them finds the line elsewhere.
TEST_P(TakingTurns, ThreadsThatMoveTogetherHardlyWait) {
  handOver(30, 0, 0);
  handOver(30, 1, 1);
  const Report report = made_.report(true);
  EXPECT_EQ(report.contended, 0u);
  EXPECT_EQ(lineAt(report, kData)->flags, std::vector<std::string>{"turns"});
}

TEST_P(TakingTurns, ReadersAloneAreNoTurnsThatMatter) {
  for (int i = 0; i < 30; ++i)
    for (const uint32_t tid : {kWriter, kOther}) {
      if (bySwitches()) made_.in(kPid, tid, 0);
      made_.load(kPid, tid, kData, 0);
      if (bySwitches()) made_.blocks(kPid, tid, 0);
    }
  const Report report = made_.report(true);
  EXPECT_EQ(lineAt(report, kData)->verdict, Verdict::privateLine);
  EXPECT_EQ(report.turns->samples, 0u) << "nobody writes";
  EXPECT_EQ(report.turns->lines, 0u);
}

TEST_P(TakingTurns, TwoCpusOfOneCoreAreSaid) {
  made_.metaJson =
      R"({"schema":"cacheline-recording/1","collector":"clock","machine":{"lineSize":64},
          "topology":{"cores":[{"id":0,"cpus":[0,4]},{"id":1,"cpus":[1,5]}]}})";
  handOver(30, 1, 5);
  const Report report = made_.report(true);
  EXPECT_EQ(lineAt(report, kData)->verdict, Verdict::privateLine);
  EXPECT_EQ(lineAt(report, kData)->flags, std::vector<std::string>{"one-core"});
  EXPECT_EQ(report.turns->oneCore, 1u);
}

TEST_P(TakingTurns, CpusOfTwoCoresAreApart) {
  made_.metaJson =
      R"({"schema":"cacheline-recording/1","collector":"clock","machine":{"lineSize":64},
          "topology":{"cores":[{"id":0,"cpus":[0,4]},{"id":1,"cpus":[1,5]}]}})";
  handOver(30, 0, 5);
  EXPECT_EQ(made_.report().contended, 60u);
}

/// They may have been elsewhere when nothing was recorded there.
TEST_P(TakingTurns, AreNotKnownWhereSomeCpusWereNotRecorded) {
  for (const auto& [options, recorded] : std::vector<std::pair<std::vector<std::string>, bool>>{
           {{"-C", "2"}, false}, {{"-C2"}, false}, {{"--cpu=2"}, false}, {{"--", "make", "-C", "2"}, true}}) {
    Scenario made(0, bySwitches());
    made.start(kPid);
    made.thread(kPid, kWriter);
    made.features().cmdline = {"perf", "record"};
    made.features().cmdline.insert(made.features().cmdline.end(), options.begin(), options.end());
    for (int i = 0; i < 30; ++i) {
      made.add(kPid, kPid, kData, 2);
      made.store(kPid, kWriter, kData + 8, 2);
    }
    const Report report = made.report();
    EXPECT_EQ(report.contended, recorded ? 0u : 60u) << options[0];
    EXPECT_EQ(report.turns.has_value(), recorded) << options[0];
  }
}

/// A spinning thread that is always on its own CPU keeps everybody waiting, however the others take turns.
TEST_P(TakingTurns, AThirdThreadOnAnotherCpuMakesThemWait) {
  constexpr uint32_t kThird = 103;
  made_.thread(kPid, kThird);
  if (bySwitches()) made_.in(kPid, kThird, 1);
  for (int i = 0; i < 40; ++i) {
    step(i % 2 == 0 ? kWriter : kOther, 0);
    made_.store(kPid, kThird, kData + 16, 1);
  }
  const Report report = made_.report();
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.turns->samples + report.contended, 80u);
  EXPECT_GE(report.contended, 78u);
}

/// Not the samples at the line alone tell where a thread ran.
TEST(TurnsBySwitches, AThreadWithoutSamplesElsewhereMayHaveTheLine) {
  Scenario made(0, true);
  made.start(kPid);
  made.thread(kPid, kWriter);
  made.thread(kPid, kOther);
  for (int i = 0; i < 30; ++i) {
    for (const uint32_t tid : {kWriter, kOther}) {
      made.in(kPid, tid, 0);
      made.store(kPid, tid, kData + (tid == kWriter ? 0 : 8), 0);
      made.blocks(kPid, tid, 0);
    }
    made.in(kPid, kOther, 1);
    if (i % 10 == 0) made.store(kPid, kOther, kData + 8, 1);
    made.blocks(kPid, kOther, 1);
  }
  const Report report = made.report();
  ASSERT_EQ(report.lines.size(), 1u);
  // The writer finds the line elsewhere each time, and so does the other one whenever it is on CPU 1.
  EXPECT_GE(report.contended, 29u);
  EXPECT_LE(report.contended, 34u);
}

TEST(WhereaboutsOfThreads, AreFoundByTime) {
  const Whereabouts where(
      RanBy::switches, true, CpuCores(),
      {{.ran = {{0, 10, 0}, {20, 30, 1}, {40, 50, 0}}, .ready = {{0, 35, kNoCpu}, {40, 50, kNoCpu}}},
       {.ran = {{0, 100, 3}}, .ready = {}},
       {},
       {.ran = {{5, 6, kNoCpu}}, .ready = {}}});
  EXPECT_FALSE(where.ranElsewhere(0, 0, 0, 15));
  EXPECT_FALSE(where.ranElsewhere(0, 0, 10, 20)) << "it ran nowhere";
  EXPECT_TRUE(where.ranElsewhere(0, 0, 10, 21));
  EXPECT_TRUE(where.ranElsewhere(0, 0, 29, 60));
  EXPECT_FALSE(where.ranElsewhere(0, 0, 30, 60));
  EXPECT_TRUE(where.ranElsewhere(0, 1, 30, 60));
  EXPECT_FALSE(where.ranElsewhere(1, 3, 0, 100));
  EXPECT_TRUE(where.ranElsewhere(1, 2, 99, 100));
  EXPECT_TRUE(where.ranElsewhere(2, 2, 0, 1)) << "nothing is known of it";
  EXPECT_TRUE(where.ranElsewhere(9, 2, 0, 1));
  EXPECT_TRUE(where.ranElsewhere(3, 0, 0, 10)) << "it may have run anywhere";
  EXPECT_FALSE(where.ranElsewhere(3, 0, 6, 10));
  EXPECT_TRUE(where.ranElsewhere(1, kNoCpu, 200, 300));
  EXPECT_TRUE(where.wasReady(0, 12, 18)) << "it waited for a CPU";
  EXPECT_FALSE(where.wasReady(0, 35, 40));
  EXPECT_TRUE(where.wasReady(1, 50, 60));
  EXPECT_FALSE(where.wasReady(1, 100, 200));
}

TEST(CoresOfCpus, AreReadFromMetaJson) {
  const CpuCores cores(
      R"({"topology":{"cores":[{"cpus":[6,2]},{"cpus":[3]},{"cpus":[]},{"cpus":["x",7]},{}]}})");
  EXPECT_EQ(cores.of(6), 2u);
  EXPECT_EQ(cores.of(2), 2u);
  for (const uint32_t cpu : {0u, 3u, 5u, 7u, 100u}) EXPECT_EQ(cores.of(cpu), cpu);
  for (const char* const damaged :
       {"", "[", "{}", R"({"topology":[]})", R"({"topology":{"cores":[{"cpus":[4000000000]}]}})"})
    EXPECT_EQ(CpuCores(damaged).of(1), 1u) << damaged;
}

}  // namespace
}  // namespace cacheline::analysis::test
