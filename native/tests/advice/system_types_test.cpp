// Types of the system's headers and libraries, whose members stay as they are.
#include <gtest/gtest.h>

#include "advice/advice.h"
#include "report_builder.h"

namespace cacheline::advice {
namespace {

/// Members of glibc's mutex: one thread takes it, and both look at its kind.
std::vector<Doing> mutexAt(uint64_t at, uint32_t thread, bool both) {
  std::vector<Doing> doings{
      {.thread = thread, .address = at, .writes = true, .locked = true, .lock = holding(1, 2)},
      {.thread = thread, .address = at + 8, .writes = false, .function = 2}};
  if (both) doings.push_back({.thread = 1 - thread, .address = at + 8, .writes = false, .function = 2});
  return doings;
}

TEST(Advise, TypesOfTheSystemStayWhole) {
  for (const bool isSystem : {true, false}) {
    ReportBuilder builder;
    builder.type("account", {"lock", "kind", "balance"}).own[0].structure = "mutex";
    analysis::TypeHeat& owner = builder.report.types.back();
    owner.own[0].size = 16;
    owner.own.erase(owner.own.begin() + 1);
    analysis::TypeHeat& mutex = builder.type("mutex", {"word", "kind"});
    mutex.nested = true;
    mutex.layout.file = isSystem ? "/usr/include/bits/struct_mutex.h" : "/usr/include/own/mutex.h";
    builder.object("account", kBase, 24, "account");
    const AdviceList list = advise(builder.build(mutexAt(kBase, 0, true)));
    ASSERT_EQ(list.advice.size(), 1u);
    EXPECT_EQ(list.advice[0].type, isSystem ? "account" : "mutex");
    EXPECT_EQ(list.advice[0].way, isSystem ? Way::none : Way::pad);
    if (isSystem) {
      ASSERT_EQ(list.advice[0].locks.size(), 1u);
      EXPECT_TRUE(list.advice[0].locks[0].data.empty()) << "a lock does not protect itself";
    }
  }
}

TEST(Advise, TypesOfOtherLibrariesHaveLayouts) {
  for (const bool isInBinary : {false, true}) {
    ReportBuilder builder;
    analysis::TypeHeat& queue = builder.type("queue", {"table", "mask", "count"});
    queue.layout.file = isInBinary ? "/build/queue.c" : "/usr/include/lockfree/queue.hpp";
    queue.binary = isInBinary ? "/usr/lib/postgresql/15/bin/postgres" : "/bin/made";
    builder.object("shared", kBase, 24, "queue");
    const AdviceList list =
        advise(builder.build({{.thread = 0, .address = kBase, .writes = false},
                              {.thread = 1, .address = kBase + 16, .writes = true, .locked = true}}));
    ASSERT_EQ(list.advice.size(), 1u);
    EXPECT_EQ(list.advice[0].type, "queue");
    EXPECT_EQ(list.advice[0].way, Way::pad);
    EXPECT_TRUE(list.advice[0].definition.has_value());
    EXPECT_FALSE(list.advice[0].twoSides);
  }
}

/// A lock of Rust's, and in it the data that it protects: nobody moves the flag beside its word.
TEST(Advise, PartsThatNobodyCanMoveAreOne) {
  for (const bool isOfRust : {true, false}) {
    ReportBuilder builder;
    const std::string name =
        isOfRust ? "std::sync::mutex::Mutex<mine::Counter>" : "mine::Mutex<mine::Counter>";
    builder.type(name, {"inner", "poison", "data"}).own[2].structure = "mine::Counter";
    builder.type("mine::Counter", {"value"}).nested = true;
    for (analysis::TypeHeat& type : builder.report.types) type.layout.file = "";
    builder.object("shared", kBase, 24, name);
    const AdviceList list =
        advise(builder.build({{.thread = 0, .address = kBase, .writes = true, .locked = true},
                              {.thread = 1, .address = kBase + 8, .writes = false, .function = 2}}));
    ASSERT_EQ(list.advice.size(), 1u);
    EXPECT_EQ(list.advice[0].way, isOfRust ? Way::none : Way::pad);
  }
}

TEST(Advise, ArraysOfTypesOfTheSystemNeedAStride) {
  ReportBuilder builder;
  builder.type("mutex", {"word", "kind"}).layout.file = "/usr/include/bits/struct_mutex.h";
  builder.object("locks", kBase, 64, "mutex[4]");
  std::vector<Doing> doings = mutexAt(kBase, 0, false);
  for (const Doing& doing : mutexAt(kBase + 16, 1, false)) doings.push_back(doing);
  const AdviceList list = advise(builder.build(doings));
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].way, Way::stride);
  EXPECT_EQ(list.advice[0].object, "locks");
  EXPECT_EQ(list.advice[0].bytesPerInstance, 48u);
}

TEST(Advise, RustsOwnTypesAreOfTheSystemAsFarAsTheyHoldNoOthers) {
  for (const bool holdsOwn : {false, true}) {
    ReportBuilder builder;
    const std::string inner = holdsOwn ? "mine::Counter" : "core::sync::atomic::AtomicU64";
    builder.type("alloc::sync::ArcInner<T>", {"strong", "data"}).own[1].structure = inner;
    builder.type(inner, {"value"}).nested = true;
    for (analysis::TypeHeat& type : builder.report.types) type.layout.file = "";
    builder.object("shared", kBase, 32, builder.report.types[0].name + "[2]");
    const AdviceList list = advise(builder.build({{.thread = 0, .address = kBase + 8, .writes = true},
                                                  {.thread = 1, .address = kBase + 24, .writes = true}}));
    ASSERT_EQ(list.advice.size(), 1u);
    EXPECT_EQ(list.advice[0].way, holdsOwn ? Way::align : Way::stride);
  }
}

TEST(Advise, VariablesOfTypesOfTheSystemAreAligned) {
  ReportBuilder builder;
  builder.type("atomic", {"value"}).layout.file = "/usr/include/c++/12/atomic";
  builder.object("in", kBase, 8, "atomic");
  builder.object("out", kBase + 8, 8, "atomic");
  const AdviceList list =
      advise(builder.build({{.thread = 0, .address = kBase, .writes = true, .locked = true},
                            {.thread = 1, .address = kBase + 8, .writes = true, .locked = true}}));
  ASSERT_EQ(list.advice.size(), 1u);
  ASSERT_TRUE(std::holds_alternative<AlignVariables>(list.advice[0].change));
  EXPECT_EQ(std::get<AlignVariables>(list.advice[0].change).variables.size(), 2u);
}

}  // namespace
}  // namespace cacheline::advice
