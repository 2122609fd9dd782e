// Whole analyses of synthetic recordings: exact counts, names and verdicts.
#include "analysis/analyze.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "base/error.h"
#include "scenario.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr uint64_t kHeap = 0x5000000;

TEST(Analyze, TwoThreadsOnTwoWordsOfOneLineAreFalseSharing) {
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
  EXPECT_EQ(report.locked, 30u);
  EXPECT_EQ(report.sharedLines, 1u);
  EXPECT_EQ(report.sharedStores, 60u);
  EXPECT_EQ(report.sharedLocked, 30u);
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
  EXPECT_EQ(add.symbol, "add_one");
  EXPECT_EQ(add.object, "fixed");
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
  EXPECT_GT(add.line, 0u);
  EXPECT_NE(add.file.find("program.s"), std::string::npos);
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

TEST(Analyze, TheSameWordIsTrueSharingAndACounterIsNoLock) {
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

TEST(Analyze, AWriterBesideAMemberOthersReadIsMixedUse) {
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

TEST(Analyze, ReadersAloneAreListedWithoutContention) {
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
  EXPECT_EQ(report.sharedLines, 0u);
  EXPECT_EQ(report.lines[0].contendedShare, 0);
  EXPECT_EQ(report.objects[0].verdict, Verdict::readShared);
}

TEST(Analyze, PrivateLinesAreCountedAndListedOnlyOnRequest) {
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

TEST(Analyze, EveryUnattributedSampleIsCountedUnderItsReason) {
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

TEST(Analyze, APrivateCopyAfterAForkIsSilent) {
  Scenario s;
  s.start(100);
  s.process(100, 200);
  for (int i = 0; i < 30; ++i) {
    s.add(100, 100, kData);
    s.store(200, 200, kData + 8);
  }
  const Report report = s.report(true);
  expectTotals(report);
  EXPECT_EQ(report.contended, 0u);
  ASSERT_EQ(report.lines.size(), 2u);
  EXPECT_NE(lineAt(report, kData, "pid 100"), nullptr);
  EXPECT_NE(lineAt(report, kData, "pid 200"), nullptr);
  EXPECT_EQ(report.attributed, 60u) << "the child has its parent's mappings";
}

TEST(Analyze, ASharedMappingFoldsAcrossProcessesAtDifferentAddresses) {
  Scenario s;
  s.start(100);
  s.start(200);
  s.shared(100, 0x7f0000000000, 0x2000, 1234, 0x1000);
  s.shared(200, 0x7e0000001000, 0x1000, 1234, 0x2000);
  for (int i = 0; i < 30; ++i) {
    s.add(100, 100, 0x7f0000001040, 0);    // file offset 0x2040
    s.store(200, 200, 0x7e0000001048, 1);  // file offset 0x2048
  }
  const Report report = s.report();
  expectTotals(report);
  ASSERT_EQ(report.lines.size(), 1u);
  const Line& line = report.lines[0];
  EXPECT_EQ(line.verdict, Verdict::falseSharing);
  EXPECT_EQ(line.space, "file 00:1b:1234");
  EXPECT_EQ(line.address, 0x7e0000001040u) << "the lowest address at which it was seen";
  ASSERT_TRUE(line.fileOffset);
  EXPECT_EQ(*line.fileOffset, 0x2040u);
  EXPECT_EQ(line.mapping, "/dev/shm/board");
  ASSERT_EQ(line.accesses.size(), 2u);
  EXPECT_EQ(line.accesses[0].data.object, "board");
  EXPECT_EQ(line.accesses[0].data.offset, 0x2040u);
  EXPECT_EQ(line.accesses[1].data.offset, 0x2048u);
  ASSERT_EQ(line.threads.size(), 2u);
  EXPECT_EQ(line.threads[1].pid, 200u);
}

TEST(Analyze, SharedMemoryWithoutAPathKeepsItsMappingsName) {
  for (const char* name : {"/memfd:totals (deleted)", "/dev/zero (deleted)", "/SYSV00000000 (deleted)"}) {
    Scenario s;
    s.start(100);
    s.shared(100, 0x7f0000000000, 0x1000, 5, 0, name);
    s.process(100, 200);  // inherits the mapping
    for (int i = 0; i < 10; ++i) {
      s.add(100, 100, 0x7f0000000000);
      s.add(200, 200, 0x7f0000000008);
    }
    const Report report = s.report();
    expectTotals(report);
    ASSERT_EQ(report.lines.size(), 1u) << name;
    EXPECT_EQ(report.lines[0].verdict, Verdict::falseSharing);
    EXPECT_EQ(report.lines[0].accesses[0].data.object, name);
    EXPECT_EQ(report.binaries.size(), 1u) << "no binary of that name is looked for";
  }
}

TEST(Analyze, APrivateMappingOfTheSameFileIsNotShared) {
  Scenario s;
  s.start(100);
  s.start(200);  // the same binary at the same address: .data is private
  for (int i = 0; i < 30; ++i) {
    s.add(100, 100, kData);
    s.add(200, 200, kData);
  }
  EXPECT_EQ(s.report().contended, 0u);
}

TEST(Analyze, ExecIsANewAddressSpace) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  for (int i = 0; i < 10; ++i) s.add(100, 100, kData);
  s.records().thread(100, 101).exit();
  s.start(100);
  for (int i = 0; i < 10; ++i) s.add(100, 100, kData);
  const Report report = s.report(true);
  expectTotals(report);
  EXPECT_EQ(report.lines.size(), 2u) << "the memory before and after is not the same";
}

TEST(Analyze, APositionIndependentProgramIsNamedWhereverItLies) {
  constexpr uint64_t kBias = 0x555555554000, kOther = 0x7f1234560000;
  Scenario s;
  s.start(100, Link::pie, kBias);
  s.start(200, Link::pie, kOther);
  const auto moved = [](uint64_t address, uint64_t bias) { return address - 0x400000 + bias; };
  s.thread(100, 101);
  for (int i = 0; i < 20; ++i) {
    s.sample(100, 100, moved(kLoadBss, kBias), {}, 0);  // RIP-relative
    s.sample(100, 101, moved(kStore, kBias), {{kRegDi, moved(kHidden, kBias)}}, 1);
    s.sample(200, 200, moved(kLoadBss, kOther), {}, 2);
  }
  const Report report = s.report(true);
  expectTotals(report);
  EXPECT_EQ(report.attributed, 60u);
  const Line* line = lineAt(report, moved(kHidden, kBias));
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->verdict, Verdict::falseSharing);
  EXPECT_EQ(line->records, 40u);
  for (const Access& access : line->accesses) {
    EXPECT_EQ(access.data.object, "hidden");
    EXPECT_EQ(access.codeAddress - access.elfAddress, kBias);
  }
  const Line* other = lineAt(report, moved(kHidden, kOther));
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->accesses[0].data.object, "hidden");
  EXPECT_EQ(other->verdict, Verdict::privateLine);
}

TEST(Analyze, BssBehindTheFileMappingBelongsToTheModule) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  for (int i = 0; i < 10; ++i) {
    s.add(100, 100, kFar + 0x1040);
    s.add(100, 101, kFar + 0x1048);
  }
  const Report report = s.report();
  expectTotals(report);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].accesses[0].data.object, "far_away");
  EXPECT_EQ(report.lines[0].accesses[0].data.offset, 0x1040u);
  EXPECT_EQ(report.objects[0].binary, "fixed");
}

TEST(Analyze, TheHeapThatGoesOnAfterBssIsTheHeap) {
  // Without address space randomisation the heap begins right behind .bss, and one record covers both.
  Scenario s;
  s.start(100);
  s.anonymous(100, kFar, 0x100000, "[heap]");
  s.thread(100, 101);
  for (int i = 0; i < 10; ++i) {
    s.add(100, 100, kFar + 0x40);
    s.add(100, 101, kFar + 0x48);
    s.add(100, 100, kFar + 0x8000);
    s.add(100, 101, kFar + 0x8008);
  }
  const Report report = s.report();
  ASSERT_EQ(report.lines.size(), 2u);
  EXPECT_EQ(report.lines[0].accesses[0].data.object, "far_away");
  EXPECT_EQ(report.lines[1].accesses[0].data.object, "[heap]");
  EXPECT_EQ(report.lines[1].accesses[0].data.offset, 0x8000u);
}

TEST(Analyze, HeapStacksAndAnonymousMemoryAreNamed) {
  constexpr uint64_t kThreadStack = 0x7f0000000000, kArray = 0x7f0000800000;
  Scenario s;
  s.start(100);
  s.anonymous(100, kHeap, 0x21000, "[heap]");
  s.anonymous(100, kArray, 0x100000);
  s.anonymous(100, kThreadStack, 0x900000);  // a thread's stack below it: the kernel reports both as one
  s.thread(100, 101);
  const uint64_t local = Scenario::kStackPointer + 0x100;
  const uint64_t threadLocal = kThreadStack + 0x7ff000;
  for (int i = 0; i < 10; ++i) {
    for (const uint32_t tid : {100u, 101u}) {
      s.add(100, tid, kHeap + 0x140 + tid % 2 * 8);
      s.add(100, tid, kArray + 0x80);
      s.add(100, tid, local);
      const uint64_t sp = tid == 101 ? threadLocal - 0x40 : Scenario::kStackPointer;
      s.sample(100, tid, kAfterAdd, {{kRegDi, threadLocal}, {kRegSp, sp}});
    }
  }
  const Report report = s.report();
  expectTotals(report);
  EXPECT_EQ(report.attributed, 80u);
  ASSERT_EQ(report.lines.size(), 4u);
  const Line* heap = lineAt(report, kHeap + 0x140);
  ASSERT_NE(heap, nullptr);
  EXPECT_EQ(heap->accesses[0].data.object, "[heap]");
  EXPECT_EQ(heap->accesses[0].data.offset, 0x140u);
  const Line* array = lineAt(report, kArray + 0x80);
  ASSERT_NE(array, nullptr);
  EXPECT_EQ(array->accesses[0].data.object, "anonymous 0x7f0000800000");
  EXPECT_EQ(array->accesses[0].data.offset, 0x80u);
  const Line* stack = lineAt(report, local);
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack->accesses[0].data.object, "[stack]");
  EXPECT_EQ(stack->mapping, "[stack]");
  EXPECT_EQ(stack->accesses[0].data.offset, 0u);
  const Line* threadStack = lineAt(report, threadLocal);
  ASSERT_NE(threadStack, nullptr);
  EXPECT_EQ(threadStack->accesses[0].data.object, "[stack]");
  EXPECT_EQ(threadStack->accesses[0].data.offset, 0x7ff000u);
}

TEST(Analyze, AnotherThreadsAccessToTheMainStackIsFound) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  s.anonymous(100, 0x7f0000000000, 0x800000);
  const uint64_t sum = 0x7ffdcafe1000;
  for (int i = 0; i < 10; ++i)
    for (const uint32_t tid : {101u, 102u})
      s.sample(100, tid, kAfterAdd, {{kRegDi, sum}, {kRegSp, 0x7f0000700000}});
  const Report report = s.report();
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].accesses[0].data.object, "[stack]");
}

TEST(Analyze, AnAccessAcrossTheLinesEndIsCountedOnceAndSeenInBothLines) {
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

TEST(Analyze, ALineThatIsOnlyReachedIntoIsNotListed) {
  Scenario s;
  s.start(100);
  for (int i = 0; i < 10; ++i) s.add(100, 100, kData + 64 - 4);
  const Report report = s.report(true);
  expectTotals(report);
  EXPECT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(s.report().linesLeftOut, 1u);
}

TEST(Analyze, BothLinesOfAPairUnderContentionAreAdjacent) {
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

TEST(Analyze, AnObjectWhoseLinesDifferIsMixed) {
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

TEST(Analyze, LinesSortByContendedSamples) {
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

TEST(Analyze, CpusAndNodesOfALargeMachine) {
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

TEST(Analyze, AnEmptyRecordingIsAReportOfZeros) {
  Scenario s;
  s.start(100);
  const Report report = s.report();
  expectTotals(report);
  EXPECT_EQ(report.samples, 0u);
  EXPECT_EQ(report.seconds, 0);
  EXPECT_TRUE(report.lines.empty());
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].find("no samples"), std::string::npos);
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
  EXPECT_EQ(report.lines[0].accesses[0].symbol, "");
  EXPECT_EQ(report.lines[0].accesses[0].data.object, "stripped");
  EXPECT_EQ(report.lines[0].accesses[0].data.offset, 0u);
  EXPECT_EQ(report.binaries[0].status, "no symbols");
}

TEST(Analyze, ABarePerfDataIsARecordingToo) {
  Scenario s;
  s.start(100);
  s.add(100, 100, kData);
  const std::string folder = s.write();
  const Report inside = analyze({.path = folder + "/perf.data"});
  EXPECT_EQ(inside.metaJson, s.metaJson) << "meta.json beside it in a .cacheline folder is used";
  const std::string bare = s.file("perf.data");
  s.records().write(bare, s.features());
  const Report report = analyze({.path = bare});
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
  EXPECT_EQ(reportJson(analyze({.path = folder})), reportJson(analyze({.path = folder})));
}

TEST(Analyze, ProgressGoesUpAndFalseCancels) {
  Scenario s;
  s.start(100);
  for (int i = 0; i < 1000; ++i) s.add(100, 100, kData);
  const std::string folder = s.write();
  double last = 0;
  analyze({.path = folder}, [&](double done) {
    EXPECT_GE(done, last);
    last = done;
    return true;
  });
  EXPECT_EQ(last, 1);
  try {
    analyze({.path = folder}, [](double) { return false; });
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
    analyze({.path = path});
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
  expectRefused(s, write("b", kBasic | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_ADDR, {}), "data sources");
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
  const Report report = analyze({.path = s.file("perf.data"), .showAll = true});
  EXPECT_EQ(report.attributed, 1u);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].accesses[0].data.object, "counters");
  EXPECT_EQ(report.lines[0].accesses[0].cpus, 0u);
  EXPECT_FALSE(report.warnings.empty()) << "no CPU numbers";
}

}  // namespace
}  // namespace cacheline::analysis
