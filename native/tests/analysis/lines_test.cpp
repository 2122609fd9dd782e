// Whole analyses of synthetic recordings: lines, verdicts, flags, order.
#include <gtest/gtest.h>

#include <algorithm>

#include "scenario.h"
#include "sharing/analyze.h"

namespace cacheline::analysis {
namespace {

using namespace test;

TEST(Lines, TwoThreadsOnTwoWordsOfOneLineAreFalseSharing) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  for (int i = 0; i < 30; ++i) {
    s.add(100, 100, kData, 0);
    s.store(100, 101, kData + 8, 1);
  }
  const Report report = s.report();
  expectTotals(report);
  EXPECT_EQ(report.samples, 60u);
  EXPECT_EQ(report.attributed, 60u);
  EXPECT_EQ(report.contended, 60u);
  EXPECT_EQ(statistic(report.stats, "locked"), 30u);
  EXPECT_EQ(statistic(report.shared, "lines"), 1u);
  EXPECT_EQ(statistic(report.shared, "stores"), 60u);
  EXPECT_EQ(statistic(report.shared, "locked"), 30u);
  EXPECT_EQ(report.evidence, std::vector<std::string>{"clock"});
  EXPECT_EQ(report.collector, "clock");
  EXPECT_NEAR(report.seconds, 59 * 0.002, 1e-9);
  ASSERT_EQ(report.lines.size(), 1u);
  const Line& line = report.lines[0];
  EXPECT_EQ(line.address, kData);
  EXPECT_EQ(line.space, "pid 100");
  EXPECT_FALSE(line.fileOffset);
  EXPECT_EQ(line.mapping, program());
  EXPECT_EQ(line.verdict, Verdict::falseSharing);
  EXPECT_TRUE(line.flags.empty());
  EXPECT_DOUBLE_EQ(line.contendedShare, 1);
  EXPECT_DOUBLE_EQ(line.programShare, 1);
  EXPECT_EQ(line.rmw, 30u);
  EXPECT_EQ(line.locked, 30u);
  ASSERT_TRUE(line.nodes);
  EXPECT_EQ(*line.nodes, std::vector<uint32_t>{0});
  ASSERT_EQ(line.accesses.size(), 2u);
  const Access& add = line.accesses[0];
  EXPECT_EQ(add.offset, 0u);
  EXPECT_EQ(add.width, 8u);
  EXPECT_EQ(add.codeAddress, kAdd);
  EXPECT_EQ(add.elfAddress, kAdd);
  EXPECT_EQ(add.code->symbol, "add_one");
  EXPECT_EQ(add.code->object, "fixed");
  EXPECT_TRUE(add.locked);
  EXPECT_EQ(add.records, 30u);
  EXPECT_EQ(add.contended, 30u);
  EXPECT_EQ(add.stores, 30u);
  EXPECT_EQ(add.rmw, 30u);
  EXPECT_EQ(add.cpus, 1u);
  EXPECT_EQ(add.threads, std::vector<uint32_t>{100});
  EXPECT_EQ(add.processes, std::vector<uint32_t>{100});
  EXPECT_EQ(add.nodes, std::vector<uint32_t>{0});
  EXPECT_EQ(add.skid, (std::vector<uint32_t>{0, 30}));
  EXPECT_EQ(add.data.object, "counters");
  EXPECT_EQ(add.data.offset, 0u);
  EXPECT_GT(add.code->line, 0u);
  EXPECT_NE(add.code->file.find("program.s"), std::string::npos);
  const Access& store = line.accesses[1];
  EXPECT_EQ(store.offset, 8u);
  EXPECT_EQ(store.data.object, "counters");
  EXPECT_EQ(store.data.offset, 8u);
  EXPECT_EQ(store.skid, std::vector<uint32_t>{30});
  EXPECT_EQ(store.rmw, 0u);
  ASSERT_EQ(line.threads.size(), 2u);
  EXPECT_EQ(line.threads[0].tid, 100u);
  EXPECT_EQ(line.threads[0].comm, "program");
  EXPECT_EQ(line.threads[1].comm, "program") << "a thread has its parent's name";
  EXPECT_TRUE(line.threads[0].competes && line.threads[1].competes);
  ASSERT_EQ(report.objects.size(), 1u);
  EXPECT_EQ(report.objects[0].object, "counters");
  EXPECT_EQ(report.objects[0].binary, "fixed");
  EXPECT_EQ(report.objects[0].verdict, Verdict::falseSharing);
  EXPECT_EQ(report.objects[0].contended, 60u);
  ASSERT_EQ(report.binaries.size(), 1u);
  EXPECT_EQ(report.binaries[0].path, program());
  EXPECT_FALSE(report.binaries[0].buildId.empty());
}

TEST(Lines, TheSameWordIsTrueSharingAndACounterIsNoLock) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  for (int i = 0; i < 20; ++i) {
    s.add(100, 100, kData);
    s.add(100, 101, kData);
  }
  const Report report = s.report();
  expectTotals(report);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].verdict, Verdict::trueSharing);
  EXPECT_TRUE(report.lines[0].flags.empty());
  ASSERT_EQ(report.lines[0].accesses.size(), 1u);
  EXPECT_EQ(report.lines[0].accesses[0].threads, (std::vector<uint32_t>{100, 101}));
}

TEST(Lines, AWriterBesideAMemberOthersReadIsMixedUse) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  for (int i = 0; i < 20; ++i) {
    s.add(100, 100, kData);
    s.load(100, 101, kData + 16);
  }
  const Report report = s.report();
  expectTotals(report);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].verdict, Verdict::falseSharing);
  EXPECT_EQ(report.lines[0].flags, std::vector<std::string>{"mixed-use"});
  const ObjectSum* counters = objectNamed(report, "counters");
  const ObjectSum* flag = objectNamed(report, "flag");
  ASSERT_TRUE(counters != nullptr && flag != nullptr);
  EXPECT_EQ(counters->records, 20u) << "an object is given its own samples only";
  EXPECT_EQ(flag->records, 20u);
  EXPECT_EQ(flag->loads, 20u);
  EXPECT_EQ(flag->lines, 1u);
  EXPECT_DOUBLE_EQ(flag->contendedShare, 0.5);
}

TEST(Lines, ReadersAloneAreListedWithoutContention) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  for (int i = 0; i < 10; ++i) {
    s.load(100, 100, kData + 64);
    s.load(100, 101, kData + 64);
  }
  const Report report = s.report();
  expectTotals(report);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].verdict, Verdict::readShared);
  EXPECT_EQ(report.contended, 0u);
  EXPECT_EQ(statistic(report.shared, "lines"), 0u);
  EXPECT_EQ(report.lines[0].contendedShare, 0);
  EXPECT_EQ(report.objects[0].verdict, Verdict::readShared);
}

TEST(Lines, PrivateLinesAreCountedAndListedOnlyOnRequest) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  s.add(100, 100, kData);  // sets up, before the thread uses it
  for (int i = 0; i < 10; ++i) s.add(100, 101, kData);
  for (int i = 0; i < 10; ++i) s.load(100, 101, kData + 64);
  const Report brief = s.report();
  expectTotals(brief);
  EXPECT_TRUE(brief.lines.empty());
  EXPECT_EQ(brief.linesLeftOut, 2u);
  EXPECT_EQ(brief.contended, 0u);
  const Report all = s.report(true);
  expectTotals(all);
  EXPECT_EQ(all.linesLeftOut, 0u);
  ASSERT_EQ(all.lines.size(), 2u);
  EXPECT_EQ(all.lines[0].address, kData) << "ties sort by ascending address";
  EXPECT_EQ(all.lines[0].verdict, Verdict::privateLine);
  EXPECT_FALSE(all.lines[0].threads[0].competes);
}

TEST(Lines, EveryUnattributedSampleIsCountedUnderItsReason) {
  Scenario s;
  s.start(100);
  s.sample(100, 100, 0xffffffff81000000, {}, 0, PERF_RECORD_MISC_KERNEL);
  s.sample(100, 100, 0xffffffff81000000, {}, 0, 0);
  s.sample(100, 100, 0x12345678, {});               // no mapping
  s.sample(100, 100, kAdd + 1, {{kRegDi, kData}});  // inside an instruction
  s.sample(100, 100, kNoOperand, {});
  s.sample(100, 100, kTls, {});
  s.sample(100, 100, kClobbered, {{kRegDi, kData}});
  s.sample(100, 100, kAdd, {{kRegDi, 0x10}});  // no mapping there
  s.add(100, 100, kData);
  const Report report = s.report();
  expectTotals(report);
  EXPECT_EQ(report.samples, 9u);
  EXPECT_EQ(report.attributed, 1u);
  EXPECT_EQ(report.unattributed.kernel, 2u);
  EXPECT_EQ(report.unattributed.noInstruction, 2u);
  EXPECT_EQ(report.unattributed.noMemoryOperand, 1u);
  EXPECT_EQ(report.unattributed.threadLocal, 1u);
  EXPECT_EQ(report.unattributed.clobbered, 1u);
  EXPECT_EQ(report.unattributed.unmapped, 1u);
}

TEST(Lines, AnAccessAcrossTheLinesEndIsCountedOnceAndSeenInBothLines) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  for (int i = 0; i < 10; ++i) {
    s.add(100, 100, kData + 64 - 4);
    s.load(100, 101, kData + 64);
  }
  const Report report = s.report(true);
  expectTotals(report);
  EXPECT_EQ(report.attributed, 20u);
  ASSERT_EQ(report.lines.size(), 2u);
  const Line* first = lineAt(report, kData);
  const Line* second = lineAt(report, kData + 64);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(first->flags, std::vector<std::string>{"straddling"});
  EXPECT_EQ(first->records, 10u);
  EXPECT_EQ(first->verdict, Verdict::privateLine);
  EXPECT_EQ(second->records, 10u);
  EXPECT_EQ(second->verdict, Verdict::trueSharing) << "bytes 0 to 3 are written by the straddling access";
  ASSERT_EQ(second->threads.size(), 2u);
  EXPECT_EQ(second->threads[0].stores, 0u);
  EXPECT_TRUE(second->threads[0].competes);
  EXPECT_EQ(second->contended, 10u);
}

TEST(Lines, ALineThatIsOnlyReachedIntoIsNotListed) {
  Scenario s;
  s.start(100);
  for (int i = 0; i < 10; ++i) s.add(100, 100, kData + 64 - 4);
  const Report report = s.report(true);
  expectTotals(report);
  EXPECT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(s.report().linesLeftOut, 1u);
}

TEST(Lines, BothLinesOfAPairUnderContentionAreAdjacent) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  for (int i = 0; i < 10; ++i) {
    for (const uint64_t at : {uint64_t{0}, uint64_t{64}, uint64_t{0x100}}) {
      s.add(100, 100, kFar + at);
      s.store(100, 101, kFar + at + 8);
    }
  }
  const Report report = s.report();
  ASSERT_EQ(report.lines.size(), 3u);
  EXPECT_EQ(lineAt(report, kFar)->flags, std::vector<std::string>{"adjacent"});
  EXPECT_EQ(lineAt(report, kFar + 64)->flags, std::vector<std::string>{"adjacent"});
  EXPECT_TRUE(lineAt(report, kFar + 0x100)->flags.empty());
  ASSERT_EQ(report.objects.size(), 1u);
  EXPECT_EQ(report.objects[0].lines, 3u) << "contention spread over many lines is added up";
  EXPECT_EQ(report.objects[0].contended, 60u);
  EXPECT_EQ(report.objects[0].flags, std::vector<std::string>{"adjacent"});
}

TEST(Lines, AnObjectWhoseLinesDifferIsMixed) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  for (int i = 0; i < 10; ++i) {
    s.add(100, 100, kFar);
    s.store(100, 101, kFar + 8);
    s.add(100, 100, kFar + 0x100);
    s.add(100, 101, kFar + 0x100);
    s.load(100, 100, kFar + 0x200);
    s.load(100, 101, kFar + 0x200);
  }
  const Report report = s.report();
  ASSERT_EQ(report.objects.size(), 1u);
  EXPECT_EQ(report.objects[0].verdict, Verdict::mixed);
  EXPECT_EQ(report.objects[0].lines, 3u);
  EXPECT_EQ(report.objects[0].records, 60u);
  EXPECT_EQ(report.objects[0].contended, 40u);
}

TEST(Lines, LinesSortByContendedSamples) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  const auto contend = [&](uint64_t address, int times) {
    for (int i = 0; i < times; ++i) {
      s.add(100, 100, address);
      s.store(100, 101, address + 8);
    }
  };
  contend(kFar + 0x400, 10);
  contend(kFar + 0x100, 30);
  contend(kFar + 0x200, 10);
  const Report report = s.report();
  ASSERT_EQ(report.lines.size(), 3u);
  EXPECT_EQ(report.lines[0].address, kFar + 0x100);
  EXPECT_EQ(report.lines[1].address, kFar + 0x200);
  EXPECT_EQ(report.lines[2].address, kFar + 0x400);
  EXPECT_DOUBLE_EQ(report.lines[0].contendedShare, 0.6);
}

TEST(Lines, CpusAndNodesOfALargeMachine) {
  Scenario s;
  s.features().numaNodes = {{0, 1, 1, "0-63"}, {1, 1, 1, "64-127"}};
  s.start(100);
  s.thread(100, 101);
  for (uint32_t i = 0; i < 20; ++i) {
    s.add(100, 100, kData, i % 3 * 64);
    s.store(100, 101, kData + 8, 5);
  }
  const Report report = s.report();
  expectTotals(report);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].accesses[0].cpus, 3u);
  EXPECT_EQ(report.lines[0].accesses[0].nodes, (std::vector<uint32_t>{0, 1}))
      << "CPU 128 is on no known node";
  EXPECT_FALSE(report.lines[0].nodes) << "which node the memory is on is not known";
}

/// Of such a line some samples are logged: their shares are those of all, and sums do not depend on them.
TEST(Lines, OfALineWithManySamplesAllAreCounted) {
  constexpr uint64_t kTurns = 6000;
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  s.thread(100, 102);
  for (uint64_t i = 0; i < 500; ++i) s.store(100, 102, kData + 16);  // before the others: it does not compete
  for (uint64_t i = 0; i < kTurns; ++i) {
    s.store(100, 100, kData);
    s.store(100, 101, kData + 8);
    if (i % 3 == 0) s.load(100, 100, kData + 8);
  }
  const Report report = s.report();
  ASSERT_EQ(report.lines.size(), 1u);
  const Line& line = report.lines[0];
  EXPECT_EQ(line.records, 2 * kTurns + kTurns / 3 + 500);
  EXPECT_EQ(line.contended, 2 * kTurns + kTurns / 3);
  EXPECT_EQ(line.contended, report.contended);
  uint64_t waiting = 0;
  for (const Access& access : line.accesses) {
    waiting += access.contended;
    EXPECT_EQ(access.contended, access.offset == 16 ? 0 : access.records);
  }
  EXPECT_EQ(waiting, line.contended);
  EXPECT_TRUE(line.falseShare->value);
}

}  // namespace
}  // namespace cacheline::analysis
