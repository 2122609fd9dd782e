// Whole analyses of synthetic recordings: address spaces and the names of memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "scenario.h"
#include "sharing/analyze.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr uint64_t kHeapAt = 0x5000000;

TEST(Memory, APrivateCopyAfterAForkIsSilent) {
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

TEST(Memory, ASharedMappingFoldsAcrossProcessesAtDifferentAddresses) {
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

TEST(Memory, SharedMemoryWithoutAPathKeepsItsMappingsName) {
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
    const bool nameless = std::string(name) == "/dev/zero (deleted)";
    EXPECT_EQ(report.lines[0].accesses[0].data.object, nameless ? "anonymous shared memory" : name);
    EXPECT_EQ(report.binaries.size(), 1u) << "no binary of that name is looked for";
  }
}

TEST(Memory, APrivateMappingOfTheSameFileIsNotShared) {
  Scenario s;
  s.start(100);
  s.start(200);  // the same binary at the same address: .data is private
  for (int i = 0; i < 30; ++i) {
    s.add(100, 100, kData);
    s.add(200, 200, kData);
  }
  EXPECT_EQ(s.report().contended, 0u);
}

TEST(Memory, ExecIsANewAddressSpace) {
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

TEST(Memory, APositionIndependentProgramIsNamedWhereverItLies) {
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

TEST(Memory, BssBehindTheFileMappingBelongsToTheModule) {
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

TEST(Memory, TheHeapThatGoesOnAfterBssIsTheHeap) {
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

TEST(Memory, HeapStacksAndAnonymousMemoryAreNamed) {
  constexpr uint64_t kThreadStack = 0x7f0000000000, kArray = 0x7f0000800000;
  Scenario s;
  s.start(100);
  s.anonymous(100, kHeapAt, 0x21000, "[heap]");
  s.anonymous(100, kArray, 0x100000);
  s.anonymous(100, kThreadStack, 0x900000);  // a thread's stack below it: the kernel reports both as one
  s.thread(100, 101);
  const uint64_t local = Scenario::kStackPointer + 0x100;
  const uint64_t threadLocal = kThreadStack + 0x7ff000;
  for (int i = 0; i < 10; ++i) {
    for (const uint32_t tid : {100u, 101u}) {
      s.add(100, tid, kHeapAt + 0x140 + tid % 2 * 8);
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
  const Line* heap = lineAt(report, kHeapAt + 0x140);
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

/// Goroutines' stacks are blocks of the heap: near to a stack pointer are objects that threads share.
TEST(Memory, WhatIsNearAStackOfGoIsNotCalledStack) {
  constexpr uint64_t kArena = 0xc000000000, kSp = kArena + 0x1000, kObject = kArena + 0x5040;
  Scenario s;
  const std::string path = s.file("go-program"), note = s.file("note");
  std::ofstream(note) << "\xff Go buildinf:";
  ASSERT_EQ(
      std::system(
          ("objcopy --add-section .go.buildinfo=" + note + " " + program(Link::fixed) + " " + path).c_str()),
      0);
  for (const auto& [pid, file] : {std::pair(100u, path), std::pair(200u, program(Link::fixed))}) {
    s.startFile(pid, file);
    s.thread(pid, pid + 1);
    s.anonymous(pid, kArena, 0x400000);
  }
  for (int i = 0; i < 10; ++i)
    for (const uint32_t pid : {100u, 200u})
      for (const uint32_t tid : {pid, pid + 1})
        s.sample(pid, tid, kAfterAdd,
                 {{kRegDi, kObject}, {kRegSp, tid == pid ? Scenario::kStackPointer : kSp}});
  const Report report = s.report();
  ASSERT_EQ(report.lines.size(), 2u);
  EXPECT_EQ(report.lines[0].accesses[0].data.object, "anonymous 0xc000000000");
  EXPECT_EQ(report.lines[1].accesses[0].data.object, "[stack]") << "of any other program";
}

TEST(Memory, AnotherThreadsAccessToTheMainStackIsFound) {
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

}  // namespace
}  // namespace cacheline::analysis
