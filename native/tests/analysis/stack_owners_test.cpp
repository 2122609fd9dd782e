// Whole analyses of synthetic recordings: whose stack memory is.
#include <gtest/gtest.h>

#include <string>

#include "scenario.h"
#include "sharing/analyze.h"

namespace cacheline::analysis {
namespace {

using namespace test;

/// A process "server" (100) with threads "worker" whose stacks lie below each other, a guard page between
/// two.
class StackOwnersTest : public testing::Test {
 protected:
  static constexpr uint64_t kMain = 0x7ffdcafe1000;  // on main's stack
  static constexpr uint64_t kStackSize = 8 << 20, kPage = 0x1000;

  static uint64_t endOf(uint32_t tid) { return 0x7f0010000000 - (tid - 101) * (kStackSize + kPage); }

  void begin() {
    s.start(100);
    s.records().thread(100, 100).comm("server");
  }
  /// A thread named "worker", and its stack with `more` bytes merged to its end.
  void worker(uint32_t tid, uint64_t more = 0) {
    s.anonymous(100, endOf(tid) - kStackSize, kStackSize + more);
    s.thread(100, tid);
    s.records().thread(100, tid).comm("worker");
  }
  void end(uint32_t tid) { s.records().thread(100, tid).exit(); }
  /// `tid` adds to `address`, while its own stack ends `end`.
  void add(uint32_t tid, uint64_t address, uint64_t end) {
    s.sample(100, tid, kAfterAdd, {{kRegDi, address}, {kRegSp, end - 0x1000}});
  }
  void add(uint32_t tid, uint64_t address) { add(tid, address, tid == 100 ? kMain : endOf(tid)); }
  void fight(uint32_t one, uint32_t other, uint64_t address) {
    for (int i = 0; i < 10; ++i) {
      add(one, address);
      add(other, address + 8);
    }
  }
  static std::string ownerOf(const Report& report, uint64_t address) {
    const Line* line = lineAt(report, address / 64 * 64);
    if (line == nullptr) return "not listed";
    const std::string name = objectName(line->accesses[0].data);
    for (const Access& access : line->accesses)
      if (objectName(access.data) != name) return "several";
    return name;
  }
  std::string ownerOf(uint64_t address) { return ownerOf(s.report(true), address); }

  Scenario s;
};

TEST_F(StackOwnersTest, TheStackThatAnotherThreadsPointerLeadsToIsItsOwners) {
  begin();
  for (const uint32_t tid : {101u, 102u, 103u}) worker(tid);
  fight(102, 103, kMain);
  const uint64_t lent = endOf(101) - 0x800;
  add(101, kData);  // the owner itself never touches it
  fight(102, 103, lent);
  const Report report = s.report();
  expectTotals(report);
  EXPECT_EQ(ownerOf(report, kMain), "[stack of main]");
  EXPECT_EQ(ownerOf(report, lent), "[stack of worker 101]");
  const Line* line = lineAt(report, lent);
  ASSERT_NE(line, nullptr);
  const DataName& data = line->accesses[0].data;
  EXPECT_EQ(data.object, "[stack]");
  ASSERT_TRUE(data.stackOwner);
  EXPECT_EQ(data.stackOwner->pid, 100u);
  EXPECT_EQ(data.stackOwner->tid, 101u);
  EXPECT_EQ(data.stackOwner->comm, "worker");
  EXPECT_NE(objectNamed(report, "[stack of main]"), nullptr);
  EXPECT_NE(objectNamed(report, "[stack of worker 101]"), nullptr);
}

TEST_F(StackOwnersTest, AStackThatIsUsedAgainIsItsOwnersOfTheTime) {
  begin();
  for (const uint32_t tid : {101u, 103u, 104u}) worker(tid);
  const uint64_t early = endOf(101) - 0x800, late = early + 64, always = early + 128;
  add(101, kData);
  fight(103, 104, early);
  fight(103, 104, always);
  end(101);
  s.thread(100, 102);  // glibc gives it the stack of the one that ended
  fight(103, 104, late);
  fight(103, 104, always);
  add(102, kData, endOf(101));
  const Report report = s.report();
  EXPECT_EQ(ownerOf(report, early), "[stack of worker 101]");
  EXPECT_EQ(ownerOf(report, late), "[stack of server 102]");
  EXPECT_EQ(ownerOf(report, always), "anonymous 0x7f000f800000");
}

TEST_F(StackOwnersTest, AStackIsNobodysWhenItsOwnerHasEnded) {
  begin();
  for (const uint32_t tid : {101u, 103u, 104u}) worker(tid);
  add(101, kData);
  fight(103, 104, endOf(101) - 0x800);
  end(101);
  fight(103, 104, endOf(101) - 0x800);
  EXPECT_EQ(ownerOf(endOf(101) - 0x800), "anonymous 0x7f000f800000");
}

/// The sampling agent tells of a thread when it is first sampled.
TEST_F(StackOwnersTest, AStackThatWasUsedBeforeItsOwnerIsHeardOfIsItsOwners) {
  begin();
  for (const uint32_t tid : {102u, 103u}) worker(tid);
  s.anonymous(100, endOf(101) - kStackSize, kStackSize);
  fight(102, 103, endOf(101) - 0x800);
  s.thread(100, 101);
  add(101, kData);
  EXPECT_EQ(ownerOf(endOf(101) - 0x800), "[stack of server 101]");
}

TEST_F(StackOwnersTest, NobodyIsNamedWhereAThreadThatEndedCanHaveHadIt) {
  begin();
  for (const uint32_t tid : {102u, 103u, 104u}) worker(tid);
  s.anonymous(100, endOf(101) - kStackSize, kStackSize);
  fight(102, 103, endOf(101) - 0x800);
  end(104);
  s.thread(100, 101);
  add(101, kData);
  EXPECT_EQ(ownerOf(endOf(101) - 0x800), "anonymous 0x7f000f800000");
}

TEST_F(StackOwnersTest, NobodyIsNamedWhereSeveralThreadsAreInOneMapping) {
  begin();
  worker(101);
  s.thread(100, 102);
  for (int i = 0; i < 10; ++i)
    for (const uint32_t tid : {101u, 102u}) add(tid, endOf(101) - 0x800, endOf(101) - (tid - 101) * 0x10000);
  EXPECT_EQ(ownerOf(endOf(101) - 0x800), "[stack]");
}

TEST_F(StackOwnersTest, NobodyIsNamedWhereTheMappingHoldsMoreThanAStack) {
  begin();
  worker(101, 3 * kPage);  // the C library's data, which the kernel merged with it before it was recorded
  worker(102);
  const uint64_t beyond = endOf(101) + kPage;
  fight(101, 102, beyond);
  EXPECT_EQ(ownerOf(beyond), "[stack]");
}

TEST_F(StackOwnersTest, NobodyIsNamedWhereAThreadHasSeveralStacks) {
  constexpr uint64_t kPool = 0x7e0000000000;  // of coroutines
  begin();
  for (const uint32_t tid : {101u, 102u}) worker(tid);
  s.anonymous(100, kPool, 1 << 20);
  for (int i = 0; i < 10; ++i) {
    add(101, kPool + 0x8000, kPool + 0x8000);
    add(102, kPool + 0x8008);
    add(101, endOf(101) - 0x800);
    add(102, endOf(101) - 0x7f8);
  }
  const Report report = s.report();
  EXPECT_EQ(ownerOf(report, kPool + 0x8000), "[stack]");
  EXPECT_EQ(ownerOf(report, endOf(101) - 0x800), "[stack]");
}

TEST_F(StackOwnersTest, NobodyIsNamedWhereAnotherThreadRunsOnMainsStack) {
  begin();
  for (const uint32_t tid : {101u, 102u}) worker(tid);
  fight(101, 102, kMain);
  add(102, kData, kMain);
  EXPECT_EQ(ownerOf(kMain), "[stack]");
}

TEST_F(StackOwnersTest, WhereRecordsWereLostThreadsMayHaveComeAndGone) {
  begin();
  for (const uint32_t tid : {101u, 102u}) worker(tid);
  s.records().lost(5);
  fight(101, 102, endOf(101) - 0x800);
  fight(101, 102, kMain);
  const Report report = s.report();
  EXPECT_EQ(ownerOf(report, endOf(101) - 0x800), "[stack]");
  EXPECT_EQ(ownerOf(report, kMain), "[stack of main]");
}

TEST_F(StackOwnersTest, TheMainStackOfAnAttachedProcessIsMains) {
  begin();
  s.anonymous(100, kMain - 0x20000, 0x21000, "[stack]");
  for (const uint32_t tid : {101u, 102u}) worker(tid);
  fight(101, 102, kMain - 0x100);
  EXPECT_EQ(ownerOf(kMain - 0x100), "[stack of main]");
}

}  // namespace
}  // namespace cacheline::analysis
