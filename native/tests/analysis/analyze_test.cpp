// Whole analyses of synthetic recordings: recordings and binaries that are missing, damaged or unusual;
// totals.
#include "sharing/analyze.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "base/error.h"
#include "scenario.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr uint64_t kHeap = 0x5000000;

TEST(Analyze, AnEmptyRecordingIsAReportOfZeros) {
  Scenario s;
  s.start(100);
  const Report report = s.report();
  expectTotals(report);
  EXPECT_EQ(report.samples, 0u);
  EXPECT_EQ(report.seconds, 0);
  EXPECT_TRUE(report.lines.empty());
  EXPECT_TRUE(report.warnings.empty()) << "the recorder's reason is told, not a guess";
}

TEST(Analyze, LostRecordsAreCountedAndSaid) {
  Scenario s;
  s.start(100);
  s.add(100, 100, kData);
  s.records().lost(7);
  const Report report = s.report();
  EXPECT_EQ(report.lost, 7u);
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_NE(report.warnings[0].find("7 records were lost"), std::string::npos);
}

TEST(Analyze, AChangedBinaryIsSaidAndNotDecoded) {
  Scenario s;
  s.features().buildIds = {{-1, "0123456789abcdef0123456789abcdef01234567", program(), false}};
  s.start(100);
  s.add(100, 100, kData);
  const Report report = s.report();
  expectTotals(report);
  EXPECT_EQ(report.unattributed.noInstruction, 1u);
  ASSERT_EQ(report.binaries.size(), 1u);
  EXPECT_EQ(report.binaries[0].status, "changed");
  EXPECT_EQ(report.binaries[0].buildId, "0123456789abcdef0123456789abcdef01234567");
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].find("changed"), std::string::npos);
}

TEST(Analyze, WithoutABuildIdSizeAndTimeTell) {
  Scenario s;
  s.metaJson = R"({"collector":"clock","binaries":[{"path":")" + program() +
               R"(","buildId":"","size":1,"mtimeNs":"5"}]})";
  s.start(100);
  s.add(100, 100, kData);
  const Report report = s.report();
  ASSERT_EQ(report.binaries.size(), 1u);
  EXPECT_EQ(report.binaries[0].status, "changed");
}

TEST(Analyze, AMissingBinaryIsSaid) {
  Scenario s;
  s.start(100);
  s.records().thread(100, 100).mmap2(
      {.address = 0x10000000, .length = 0x1000, .file = "/nonexistent/plugin.so"});
  s.sample(100, 100, 0x10000010, {});
  const Report report = s.report();
  EXPECT_EQ(report.unattributed.noInstruction, 1u);
  ASSERT_EQ(report.binaries.size(), 1u);
  EXPECT_EQ(report.binaries[0].status, "missing");
  EXPECT_FALSE(report.warnings.empty());
}

TEST(Analyze, AStrippedBinaryStillGivesAddresses) {
  Scenario s;
  const std::string stripped = s.file("stripped");
  ASSERT_EQ(std::system(("strip -o " + stripped + " " + program()).c_str()), 0);
  s.startFile(100, stripped);
  s.thread(100, 101);
  for (int i = 0; i < 10; ++i) {
    s.add(100, 100, kData);
    s.store(100, 101, kData + 8);
  }
  const Report report = s.report();
  expectTotals(report);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].verdict, Verdict::falseSharing);
  EXPECT_EQ(report.lines[0].records, 20u);
  EXPECT_EQ(report.lines[0].accesses[0].codeAddress, kAdd);
  EXPECT_EQ(report.lines[0].accesses[0].code->symbol, "");
  EXPECT_EQ(report.lines[0].accesses[0].data.object, "stripped");
  EXPECT_EQ(report.lines[0].accesses[0].data.offset, 0u);
  EXPECT_EQ(report.binaries[0].status, "no symbols");
}

TEST(Analyze, ABarePerfDataIsARecordingToo) {
  Scenario s;
  s.start(100);
  s.add(100, 100, kData);
  const std::string folder = s.write();
  const Report inside = analyzeAt(folder + "/perf.data");
  EXPECT_EQ(inside.metaJson, s.metaJson) << "meta.json beside it in a .cacheline folder is used";
  const std::string bare = s.file("perf.data");
  s.records().write(bare, s.features());
  const Report report = analyzeAt(bare);
  EXPECT_EQ(report.samples, 1u);
  EXPECT_TRUE(report.metaJson.empty());
  EXPECT_EQ(report.collector, "clock");
}

TEST(Analyze, TheSameRecordingGivesTheSameDocument) {
  Scenario s;
  s.start(100);
  std::mt19937 random(1);
  for (uint32_t tid = 101; tid < 110; ++tid) s.thread(100, tid);
  for (uint32_t i = 0; i < 500; ++i) s.add(100, 100 + i * 7 % 10, kFar + random() % 0x200 / 8 * 8, i % 4);
  const std::string folder = s.write();
  EXPECT_EQ(reportJson(analyzeAt(folder)), reportJson(analyzeAt(folder)));
}

TEST(Analyze, ProgressGoesUpAndFalseCancels) {
  Scenario s;
  s.start(100);
  for (int i = 0; i < 1000; ++i) s.add(100, 100, kData);
  const std::string folder = s.write();
  double last = 0;
  analyzeAt(folder, false, [&](double done) {
    EXPECT_GE(done, last);
    last = done;
    return true;
  });
  EXPECT_EQ(last, 1);
  try {
    analyzeAt(folder, false, [](double) { return false; });
    FAIL() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
  }
}

/// Random instructions, addresses, modes, processes and threads: nothing is lost or counted twice.
TEST(Analyze, TotalsAlwaysAddUp) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    Scenario s;
    s.start(100);
    s.start(200);
    s.anonymous(100, kHeap, 0x10000, "[heap]");
    s.shared(100, 0x7f0000000000, 0x1000, 9, 0);
    s.shared(200, 0x7f1000000000, 0x1000, 9, 0);
    for (uint32_t tid = 101; tid < 105; ++tid) s.thread(100, tid);
    const uint64_t places[] = {kData,          kHidden,        kFar,      kHeap,
                               0x7f0000000000, 0x7f1000000000, 0x9990000, 0x7ffdcafe0000};
    for (int i = 0; i < 400; ++i) {
      const uint32_t pid = random() % 4 == 0 ? 200 : 100;
      const uint32_t tid = pid == 200 ? 200 : 100 + static_cast<uint32_t>(random() % 5);
      const auto place = [&] { return places[random() % std::size(places)] + random() % 0xc0; };
      s.sample(pid, tid, kText + random() % 0x190,
               {{kRegDi, place()}, {kRegSi, place()}, {kRegCx, random() % 16}, {kRegSp, place()}},
               static_cast<uint32_t>(random() % 200),
               random() % 10 == 0 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
    }
    for (const bool all : {false, true}) {
      const Report report = s.report(all);
      EXPECT_EQ(report.samples, 400u);
      expectTotals(report);
      if (!all) continue;
      uint64_t records = 0;
      for (const Line& line : report.lines) records += line.records;
      EXPECT_EQ(records, report.attributed)
          << "with private lines listed every attributed sample is in a line";
    }
  }
}

void expectRefused(const Scenario& scenario, const std::string& path, const std::string& text) {
  (void)scenario;
  try {
    analyzeAt(path);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unreadable);
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    EXPECT_FALSE(error.nextStep().empty()) << error.what();
  }
}

TEST(Analyze, RefusesWhatItCannotJudgeAndSaysWhy) {
  Scenario s;
  expectRefused(s, s.file("nothing"), "there is no recording");
  std::filesystem::create_directories(s.file("empty.cacheline"));
  expectRefused(s, s.file("empty.cacheline"), "holds no perf.data");

  const auto write = [&](const char* name, uint64_t sampleType, const perfdata::Features& features) {
    perfdata::testing::RecordBuilder records;
    records.event(perfdata::testing::clockAttr(sampleType), "event");
    records.write(s.file(name), features);
    return s.file(name);
  };
  constexpr uint64_t kBasic = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  expectRefused(s, write("a", kBasic, {}), "neither data addresses nor register snapshots");
  expectRefused(s, write("c", PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_INTR, {}), "time");
  perfdata::Features arm;
  arm.arch = "aarch64";
  expectRefused(s, write("d", kBasic | PERF_SAMPLE_REGS_INTR, arm), "aarch64");
}

TEST(Analyze, RegistersOfUserSpaceWillDo) {
  Scenario s;
  perfdata::testing::RecordBuilder records;
  records.event(perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                             PERF_SAMPLE_REGS_USER));
  records.at(5).thread(1, 1).mmap2({.address = 0x400000, .length = 0x2000, .file = program()});
  records.mmap2({.address = 0x404000, .length = 0x1000, .pageOffset = 0x2000, .file = program()});
  records.at(6).sample({.ip = kAdd, .userRegisters = {{kRegDi, kData}}});
  records.write(s.file("perf.data"), s.features());
  const Report report = analyzeAt(s.file("perf.data"), true);
  EXPECT_EQ(report.attributed, 1u);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].accesses[0].data.object, "counters");
  EXPECT_EQ(report.lines[0].accesses[0].cpus, 0u);
  EXPECT_FALSE(report.warnings.empty()) << "no CPU numbers";
}

/// The main thread works alone, then two threads at a time.
TEST(Analyze, TellsPhasesByTheLivesOfThreads) {
  Scenario made;
  made.start(100);
  for (int i = 0; i < 20; ++i) made.add(100, 100, kData);
  for (const uint32_t tid : {101u, 103u}) {
    made.thread(100, tid);
    made.thread(100, tid + 1);
    for (int i = 0; i < 30; ++i) {
      made.add(100, tid, kData);
      made.add(100, tid + 1, kData + 8);
    }
    made.pass();
    for (const uint32_t each : {tid, tid + 1}) made.records().thread(100, each).exit();
  }
  made.add(100, 100, kData);
  const Recording recording = openRecording(made.write());
  const auto reader = perfdata::Reader::open(recording.perfData);
  const Report report =
      sharing::analyze(*reader, recording, {.showAll = true, .history = true, .symbols = {}}, {});
  ASSERT_EQ(report.phases.size(), 5u) << "alone, a round, nothing, a round, and alone";
  using Phases = std::map<uint32_t, uint64_t>;
  std::map<uint32_t, Phases> byTid;
  for (const ThreadSamples& thread : report.threads) byTid[thread.tid] = thread.byPhase;
  EXPECT_EQ(byTid[100], (Phases{{0, 20}, {4, 1}}));
  EXPECT_EQ(byTid[101], (Phases{{1, 30}}));
  EXPECT_EQ(byTid[104], (Phases{{3, 30}}));
}

/// At the thread's own stack, and where an address is lost; not at other data.
TEST(Analyze, CountsByFunctionWhatMayWait) {
  Scenario made;
  made.start(100);
  made.thread(100, 101);
  for (const uint32_t tid : {100u, 101u}) {
    for (int i = 0; i < 5; ++i) made.load(100, tid, kData);
    for (int i = 0; i < 3; ++i) made.sample(100, tid, kClobbered, {{kRegDi, kData}});
  }
  for (int i = 0; i < 4; ++i) made.load(100, 100, Scenario::kStackPointer + 64);
  const Recording recording = openRecording(made.write());
  const auto reader = perfdata::Reader::open(recording.perfData);
  const auto counts = [&](bool history) {
    std::map<uint32_t, std::multiset<uint64_t>> byTid;
    const Report report =
        sharing::analyze(*reader, recording, {.showAll = true, .history = history, .symbols = {}}, {});
    for (const ThreadSamples& thread : report.threads)
      for (const auto& [key, samples] : thread.mayWait) byTid[thread.tid].insert(samples);
    return byTid;
  };
  EXPECT_EQ(counts(true), (std::map<uint32_t, std::multiset<uint64_t>>{{100, {3, 4}}, {101, {3}}}));
  EXPECT_TRUE(counts(false).empty());
}

}  // namespace
}  // namespace cacheline::analysis
