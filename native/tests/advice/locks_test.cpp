// Locks and the data under them: two locks, one of them nested.
#include "advice/locks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "advice/advice.h"
#include "report_builder.h"

namespace cacheline::advice {
namespace {

constexpr uint64_t kRecord = 0x10000;
constexpr uint64_t kOuter = kRecord, kInner = kRecord + 8, kData = kRecord + 16, kNested = kRecord + 24,
                   kFree = kRecord + 32;

Doing take(uint32_t thread, uint64_t lock, uint64_t function, uint64_t code, uint64_t until) {
  return {.thread = thread,
          .address = lock,
          .writes = true,
          .locked = true,
          .function = function,
          .code = code,
          .swaps = true,
          .lock = holding(code + 1, until)};
}
Doing store(uint32_t thread, uint64_t address, uint64_t function, uint64_t code) {
  return {.thread = thread,
          .address = address,
          .reads = false,
          .writes = true,
          .function = function,
          .code = code};
}

/// Function 1 takes the outer lock, writes data, and takes the inner one for the nested data. Function 2
/// takes the inner one alone.
std::vector<Doing> nested() {
  std::vector<Doing> doings;
  for (const uint32_t thread : {0u, 1u}) {
    for (const Doing& doing :
         {take(thread, kOuter, 1, 0x10, 0x24), store(thread, kData, 1, 0x14),
          take(thread, kInner, 1, 0x18, 0x20), store(thread, kNested, 1, 0x1c),
          store(thread, kInner, 1, 0x20), store(thread, kOuter, 1, 0x24), take(thread, kInner, 2, 0x50, 0x58),
          store(thread, kNested, 2, 0x54), store(thread, kInner, 2, 0x58)})
      doings.push_back(doing);
  }
  return doings;
}

/// The words that protect the one at an address, by their addresses.
std::vector<uint64_t> locksAt(const analysis::Report& report, uint64_t address) {
  const LockedWords found = locksOf(report);
  std::vector<uint64_t> locks;
  for (const auto& [word, by] : found.protectedBy) {
    const analysis::Line& line = report.lines[word.first];
    if (line.address + line.words[word.second].offset != address) continue;
    for (const WordOfLine& lock : by)
      locks.push_back(report.lines[lock.first].address + report.lines[lock.first].words[lock.second].offset);
  }
  return locks;
}

TEST(Locks, EachProtectsItsOwnData) {
  ReportBuilder builder;
  const analysis::Report& report = builder.build(nested());
  EXPECT_EQ(locksOf(report).locks.size(), 2u);
  EXPECT_EQ(locksAt(report, kData), std::vector<uint64_t>{kOuter});
  EXPECT_EQ(locksAt(report, kNested), std::vector<uint64_t>{kInner});
}

TEST(Locks, WhatIsAlsoAccessedWithoutThemIsNotTheirs) {
  std::vector<Doing> doings = nested();
  doings.push_back(store(0, kNested, 3, 0x90));
  doings.push_back(store(1, kFree, 1, 0x28));  // behind the release
  doings.push_back(store(0, kFree, 1, 0x28));
  ReportBuilder builder;
  const analysis::Report& report = builder.build(doings);
  EXPECT_EQ(locksAt(report, kNested), std::vector<uint64_t>{});
  EXPECT_EQ(locksAt(report, kFree), std::vector<uint64_t>{});
  EXPECT_EQ(locksAt(report, kData), std::vector<uint64_t>{kOuter});
}

TEST(Locks, OfLocksThatAreAlwaysHeldTogetherBothAreTold) {
  std::vector<Doing> doings = nested();
  std::erase_if(doings, [](const Doing& doing) { return doing.function == 2; });
  ReportBuilder builder;
  EXPECT_EQ(locksAt(builder.build(doings), kNested), (std::vector<uint64_t>{kOuter, kInner}));
}

TEST(Locks, ASumThatIsSwappedIsNone) {
  std::vector<Doing> doings;
  for (const uint32_t thread : {0u, 1u}) {
    doings.push_back(take(thread, kOuter, 1, 0x10, 0));
    decode::LockStep sum;
    sum.takes = true;
    sum.change.kind = decode::WordChange::Kind::compares;
    doings.back().lock = std::make_shared<const decode::LockStep>(sum);
    doings.push_back({.thread = thread, .address = kData, .writes = true, .locked = true, .code = 0x14});
  }
  ReportBuilder builder;
  builder.type("summary", {"sumBits", "unused", "count"});
  builder.object("summary", kRecord, 24, "summary");
  const analysis::Report& report = builder.build(doings);
  EXPECT_TRUE(locksOf(report).locks.empty());
  const AdviceList list = advise(report);
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].locks.size(), 0u);
  EXPECT_EQ(list.advice[0].why, Why::trueSharing);
}

TEST(Locks, ALockWithItsDataIsNotTakenApart) {
  std::vector<Doing> doings = nested();
  for (Doing& doing : doings) doing.reads = true;
  ReportBuilder builder;
  builder.type("record", {"outer", "inner", "data", "nested"});
  builder.object("record", kRecord, 32, "record");
  const AdviceList list = advise(builder.build(doings));
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].way, Way::none);
  EXPECT_EQ(list.advice[0].why, Why::lockWithOwnData);
  ASSERT_EQ(list.advice[0].locks.size(), 2u);
  EXPECT_EQ(list.advice[0].locks[0].name, "inner");
  EXPECT_EQ(list.advice[0].locks[0].data, std::vector<std::string>{"nested"});
  EXPECT_EQ(list.advice[0].locks[1].data, std::vector<std::string>{"data"});
}

TEST(Locks, OtherDataBesideALockIsMixedUse) {
  std::vector<Doing> doings;
  for (const uint32_t thread : {0u, 1u}) {
    doings.push_back(take(thread, kOuter, 1, 0x10, 0x18));
    doings.push_back(store(thread, kData, 1, 0x14));
    doings.push_back(store(thread, kOuter, 1, 0x18));
  }
  doings.push_back({.thread = 2, .address = kFree, .function = 5});
  ReportBuilder builder;
  builder.type("record", {"lock", "unused", "data", "more", "limit"});
  builder.object("record", kRecord, 40, "record");
  const AdviceList list = advise(builder.build(doings));
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].why, Why::mixedUse);
  EXPECT_EQ(list.advice[0].way, Way::pad);
}

}  // namespace
}  // namespace cacheline::advice
