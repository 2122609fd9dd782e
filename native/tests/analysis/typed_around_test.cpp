// Constants that lead out of the object that a pointer is to: what contains it, by the binary's types or the
// block.
#include "typed_program.h"

namespace cacheline::analysis::test {
namespace {

class TypedEnclosing : public Recorded {};

TEST_F(TypedEnclosing, TheOneClassDerivedFromABaseHasWhatLiesBehindIt) {
  static const Program list("-g", R"(
struct Link { Link *next, *previous; };
struct Node : Link { long value; };
Node first = {};
#define NOINLINE __attribute__((noinline))
NOINLINE void bump(Link *link) { __asm__ volatile(".globl bump_value\nbump_value: incq 16(%0)\n nop" ::"r"(link) : "memory"); }
extern "C" void _start() { bump(&first); }
)",
                            true);
  begin(list);
  for (int i = 0; i < 10; ++i) touch(kMain, "bump_value", kHeap);
  for (int i = 0; i < 10; ++i) touch(kThread, "bump_value", kHeap);
  analyze();
  const DataName& value = accessAt(kHeap + 16).data;
  EXPECT_EQ(value.type, "Node");
  EXPECT_EQ(value.field, "value");
  EXPECT_EQ(value.index, std::nullopt);
  EXPECT_EQ(value.base, kHeap);
  EXPECT_EQ(typeNamed("Node", false).fields.at(0).field, "value");
}

/// Nodes of lists in objects of more than one type.
TEST_F(TypedEnclosing, ABlockSaysWhichOfSeveralTypesIsAroundAMember) {
  static const Program lists("-g", R"(
struct list { struct list *next, *previous; };
struct item { long id; struct list node; long hits; };
struct task { struct list node; long runs; };
struct task global;
#define NOINLINE __attribute__((noinline))
NOINLINE void *take(unsigned long bytes) { __asm__ volatile("" : "+r"(bytes)); return (void *)bytes; }
NOINLINE struct item *make(void) { struct item *item = take(sizeof *item); item->id = 1; return item; }
NOINLINE void bump(struct list *list) { __asm__ volatile(".globl bump_behind\nbump_behind: incq 16(%0)\n nop" ::"r"(list) : "memory"); }
void _start(void) { bump(&make()->node); bump(&global.node); }
)");
  begin(lists);
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "bump_behind", kHeap + 8);
    touch(kThread, "bump_behind", kHeap + 0x1000);
  }
  analyzeWithBlocks({{kHeap, 32}}, {lists.afterCall("make", "take")});
  const DataName& hits = accessAt(kHeap + 24).data;
  EXPECT_EQ(hits.type, "item");
  EXPECT_EQ(hits.field, "hits");
  EXPECT_EQ(hits.how, How::allocation);
  const DataName& open = accessAt(kHeap + 0x1010).data;
  EXPECT_EQ(open.type, "");
  EXPECT_EQ(open.because,
            "a pointer to list leads out of it, to the next element of an array or a member of what contains "
            "it, and "
            "2 types fit: item, task");
}

/// Buckets of a hash table are links, too.
TEST_F(TypedEnclosing, AConstantMayLeadToTheNextLinkOfAnArray) {
  static const Program tables("-g", R"(
struct list { struct list *next, *previous; };
struct item { struct list node; long hits; };
struct table { struct list buckets[2]; };
struct item item;
struct table table;
__attribute__((noinline)) void bump(struct list *list) { __asm__ volatile(".globl bump_behind\nbump_behind: incq 16(%0)\n nop" ::"r"(list) : "memory"); }
void _start(void) { bump(&item.node); bump(table.buckets); }
)");
  begin(tables);
  for (int i = 0; i < 10; ++i) touch(i % 2 ? kMain : kThread, "bump_behind", kHeap);
  analyze();
  const DataName& either = accessAt(kHeap + 16).data;
  EXPECT_EQ(either.type, "");
  EXPECT_TRUE(
      either.because.starts_with("a pointer to list leads out of it, to the next element of an array or"))
      << either.because;
}

/// No array is as long, and code goes from an element to those behind it.
TEST_F(TypedEnclosing, ALinkIsNoElementBeyondTheLongestArray) {
  static const Program tables("-g", R"(
struct list { struct list *next, *previous; };
struct item { long id, uses; struct list node; long pad[4], hits; };
struct table { struct list buckets[2]; };
struct item item;
struct table table;
__attribute__((noinline)) void bump(struct list *list) { __asm__ volatile(".globl bump_far\nbump_far: incq 48(%0)\n nop" ::"r"(list) : "memory"); }
__attribute__((noinline)) void back(struct list *list) { __asm__ volatile(".globl bump_ahead\nbump_ahead: incq -8(%0)\n nop" ::"r"(list) : "memory"); }
void _start(void) { bump(&item.node); bump(table.buckets); back(&item.node); }
)");
  begin(tables);
  for (int i = 0; i < 10; ++i) {
    touch(i % 2 ? kMain : kThread, "bump_far", kHeap + 16);
    touch(i % 2 ? kMain : kThread, "bump_ahead", kHeap + 0x1010);
  }
  analyze();
  EXPECT_EQ(accessAt(kHeap + 64).data.type, "item");
  EXPECT_EQ(accessAt(kHeap + 64).data.field, "hits");
  EXPECT_EQ(accessAt(kHeap + 0x1008).data.field, "uses");
}

/// An element is a part of what was allocated around the array.
TEST_F(TypedEnclosing, ABlockIsAroundTheElementsOfItsArray) {
  static const Program tables("-g", R"(
struct slot { long sum, uses; };
struct table { long rounds; struct slot slots[3]; };
#define NOINLINE __attribute__((noinline))
NOINLINE void *take(unsigned long bytes) { __asm__ volatile("" : "+r"(bytes)); return (void *)bytes; }
NOINLINE struct table *make(void) { struct table *table = take(sizeof *table); table->rounds = 1; return table; }
NOINLINE void bump(struct slot *slots) { __asm__ volatile(".globl bump_third\nbump_third: incq 40(%0)\n nop" ::"r"(slots) : "memory"); }
void _start(void) { bump(make()->slots); }
)");
  begin(tables);
  for (int i = 0; i < 10; ++i) touch(i % 2 ? kMain : kThread, "bump_third", kHeap + 8);
  analyzeWithBlocks({{kHeap, 56}}, {tables.afterCall("make", "take")});
  const DataName& uses = accessAt(kHeap + 48).data;
  EXPECT_EQ(uses.type, "table");
  EXPECT_EQ(uses.field, "slots[2].uses");
}

/// As the `this` of an inlined fetch_add() is.
TEST_F(TypedEnclosing, AnOpenArrayIsAPartOfItsObjectAsAnyOtherMember) {
  static const Program pools("-g", R"(
struct cell { long value; };
struct pool { long used; struct cell cells[]; } pool;
__attribute__((noinline)) void hit(struct pool *pool, long i) {
  register struct cell *cell __asm__("rax") = &pool->cells[i];
  __asm__ volatile(".globl hit_cell\nhit_cell: incq (%0)\n nop" ::"r"(cell), "r"(pool) : "memory");
}
void _start(void) { hit(&pool, 3); }
)");
  begin(pools);
  for (int i = 0; i < 10; ++i)
    scenario_.sample(kMain, i % 2 ? kMain : kThread, pools.after("hit_cell"),
                     {{kRegDi, kHeap}, {kRegAx, kHeap + 8 + 7 * 8}});
  analyze();
  const DataName& cell = accessAt(kHeap + 64).data;
  EXPECT_EQ(cell.type, "pool");
  EXPECT_EQ(cell.field, "cells[7].value");
  EXPECT_EQ(cell.base, kHeap);
}

/// A `std::atomic` in code that counts by the base class that does the work.
TEST_F(TypedEnclosing, AWrapperOfTheSameSizeIsAroundWhatItWraps) {
  static const Program wrappers("-g", R"(
struct base { long value; };
struct wrap { struct base base; } wraps[4];
__attribute__((noinline)) void hit(struct base *bases, long i, struct wrap *wrap) {
  __asm__ volatile(".globl hit_base\nhit_base: incq (%0,%1,8)\n nop" ::"r"(bases), "r"(i), "r"(wrap) : "memory");
}
void _start(void) { hit(&wraps->base, 0, wraps); }
)");
  begin(wrappers);
  for (int i = 0; i < 10; ++i)
    scenario_.sample(kMain, i % 2 ? kMain : kThread, wrappers.after("hit_base"),
                     {{kRegDi, kHeap}, {kRegSi, 0}, {kRegDx, kHeap}});
  analyze();
  const DataName& value = accessAt(kHeap).data;
  EXPECT_EQ(value.type, "wrap");
  EXPECT_EQ(value.field, "base.value");
}

}  // namespace
}  // namespace cacheline::analysis::test
