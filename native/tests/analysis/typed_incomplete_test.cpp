// Objects of classes that the debug information does not define, or does not place: what is said of them.
#include <gtest/gtest.h>

#include "typed_program.h"

namespace cacheline::analysis {
namespace {

using namespace test;
using TypedIncomplete = Recorded;

/// A class is defined in the unit that has its first virtual function, and that is another one.
constexpr const char* kUndefined = R"(
struct Stat { virtual void key(); long hits, misses; };
struct Shared { long value; virtual void key(); };
struct Worker { long id; Stat stat; long done; };
struct Derived : virtual Shared { long own; };
extern Stat lone;
Worker worker __attribute__((aligned(64)));
Derived derived __attribute__((aligned(64)));
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0\n nop" : "+m"(place))
__attribute__((noinline)) void work(Worker* worker) { ACCESS(worker_misses, worker->stat.misses); ACCESS(worker_done, worker->done); }
__attribute__((noinline)) void globals() { ACCESS(global_misses, ::worker.stat.misses); ACCESS(shared_value, derived.value); ACCESS(own_value, derived.own); }
extern "C" void _start() { work(&worker); globals(); }
)";

TEST_F(TypedIncomplete, MembersOfAClassWithoutADefinitionAreItsOwn) {
  const Program program("-g -Wl,--unresolved-symbols=ignore-all", kUndefined, true);
  begin(program);
  for (int i = 0; i < 20; ++i) {
    touch(kMain, "worker_misses", kHeap);
    touch(kThread, "worker_done", kHeap);
    touch(kMain, "global_misses");
  }
  analyze();
  for (const uint64_t address : {kHeap + 24, program.address("worker") + 24}) {
    const DataName& misses = accessAt(address).data;
    EXPECT_EQ(misses.type, "Worker");
    EXPECT_EQ(misses.field, "stat");
    EXPECT_EQ(misses.fieldOffset, 8u);
    EXPECT_EQ(misses.incomplete, "Stat");
  }
  EXPECT_EQ(accessAt(kHeap + 32).data.field, "done");
  EXPECT_EQ(accessAt(kHeap + 32).data.incomplete, "");
  EXPECT_NE(reportJson(report_).find("\"field\":\"stat\",\"incomplete\":\"Stat\""), std::string::npos);
}

TEST_F(TypedIncomplete, AVirtualBaseThatHasNoKnownPlaceMayBeThere) {
  const Program program("-g -Wl,--unresolved-symbols=ignore-all", kUndefined, true);
  begin(program);
  for (int i = 0; i < 20; ++i) {
    touch(kMain, "shared_value");
    touch(kThread, "own_value");
  }
  analyze();
  const uint64_t derived = program.address("derived");
  EXPECT_EQ(accessAt(derived + 8).data.field, "own");
  EXPECT_EQ(accessAt(derived + 8).data.incomplete, "");
  const DataName& value = accessAt(derived + 24).data;
  EXPECT_EQ(value.incomplete, "Shared");
  EXPECT_EQ(value.because, "variable `derived` covers the address") << "not that no member lies there";
}

TEST_F(TypedIncomplete, ObjectsOfAClassWithoutADefinitionAreSaidToBe) {
  const Program program("-g -femit-struct-debug-baseonly", R"(
#line 1 "elsewhere.h"
struct pair { long a, b; };
#line 1 "typed.c"
struct pair pairs[2] __attribute__((aligned(64)));
__attribute__((noinline)) void bump(struct pair *pair) { __asm__ volatile(".globl bump_a\nbump_a: incq %0\n nop" : "+m"(pair->a)); }
__attribute__((noinline)) void count(void) { __asm__ volatile(".globl count_b\ncount_b: incq %0\n nop" : "+m"(pairs[1].b)); }
void _start(void) { count(); bump(pairs); }
)");
  begin(program);
  touch(kMain, "count_b");
  touch(kMain, "bump_a", kHeap);
  touch(kMain, "bump_a", kHeap + 256);
  analyzeWithBlocks({{kHeap + 256, 100}});
  const DataName& data = accessAt(program.address("pairs") + 24).data;
  EXPECT_EQ(data.type, "pair[2]");
  EXPECT_EQ(data.incomplete, "pair");
  EXPECT_EQ(data.field, "");
  EXPECT_FALSE(data.fieldOffset) << "not the whole object";
  EXPECT_EQ(data.offset, 24u);
  const std::string why =
      "a variable that is live at the access points to pair, which the debug information does not define";
  const DataName& heap = accessAt(kHeap).data;
  EXPECT_EQ(heap.how, How::unknown);
  EXPECT_EQ(heap.because, why);
  EXPECT_EQ(heap.incomplete, "pair");
  EXPECT_EQ(accessAt(kHeap + 256).data.because, "a recorded heap block; " + why);
}

/// Says why no members are named, and what to do; nothing where they are, and where no code is described at
/// all.
TEST(TypesLeftOut, AreSaidOfLimitedDebugInformation) {
  const char* const source = R"(
struct pair { long first, second; } pair __attribute__((aligned(64)));
__attribute__((noinline)) void bump(struct pair *pair) {
  __asm__ volatile(".globl bump_second\nbump_second: incq %0\n nop" : "+m"(pair->second));
}
void _start(void) { bump(&pair); }
)";
  const auto warningsOf = [&](const std::string& flags) {
    const Program program(flags, source);
    Scenario scenario;
    scenario.startFile(kMain, program.path());
    scenario.thread(kMain, kThread);
    for (const uint32_t tid : {kMain, kThread})
      for (int i = 0; i < 20; ++i)
        scenario.sample(kMain, tid, program.after("bump_second"), {{kRegDi, program.address("pair")}});
    std::string all;
    for (const std::string& warning : scenario.report(true).warnings) all += warning + "\n";
    return all;
  };
  const std::string limited = warningsOf("-g1");
  EXPECT_NE(limited.find("debug information of C code has no types, so no members are named"),
            std::string::npos)
      << limited;
  EXPECT_NE(limited.find("-g instead of -g1"), std::string::npos);
  for (const char* flags : {"-g", "-g0"})
    EXPECT_EQ(warningsOf(flags).find("has no types"), std::string::npos) << flags;
}

}  // namespace
}  // namespace cacheline::analysis
