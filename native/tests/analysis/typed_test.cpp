// Types and fields of accesses: a small C program whose accesses are marked, and samples at them.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "typed_program.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr const char* kSource = R"(
struct money { long units, cents; };
struct worker { long id; struct money today; long count; long spare; };
struct board { long flag; struct money today; struct worker workers[2]; union { long whole; int half; } either; };
struct board board __attribute__((aligned(64))) = {1};
#define ACCESS(name, place) \
  __asm__ volatile(".globl " #name "\n" #name ": incq %0\n nop" : "+m"(place))
#define NOINLINE __attribute__((noinline))
NOINLINE void bump(struct worker *worker) { ACCESS(bump_count, worker->count); }
NOINLINE void bill(struct worker *worker) { ACCESS(bill_cents, worker->today.cents); }
NOINLINE void increment(long *value) { ACCESS(increment_value, *value); }
NOINLINE void nothing(void) { __asm__ volatile(".globl raw_access\nraw_access: incq (%rdi)\n nop"); }
NOINLINE void total(void) { ACCESS(board_cents, board.today.cents); }
NOINLINE void second(void) { ACCESS(board_count, board.workers[1].count); }
NOINLINE void either(void) { ACCESS(board_either, board.either.whole); }
void _start(void) {
  bump(board.workers); bill(board.workers); increment(&board.flag); nothing(); total(); second(); either();
}
)";

const Program& described() {
  static const Program program("-g", kSource);
  return program;
}

class Typed : public Recorded {
 protected:
  Typed() { begin(described()); }
};
using Untyped = Recorded;

TEST_F(Typed, GlobalDataIsNamedByTypeAndMember) {
  for (int i = 0; i < 20; ++i) {
    touch(kMain, "board_cents");
    touch(kThread, "board_count");
    touch(kThread, "board_either");
  }
  analyze();
  const uint64_t board = program_->address("board");
  const DataName& cents = accessAt(board + 16).data;
  EXPECT_EQ(cents.how, How::global);
  EXPECT_EQ(cents.object, "board");
  EXPECT_EQ(cents.type, "board");
  EXPECT_EQ(cents.field, "today.cents");
  EXPECT_EQ(cents.fieldOffset, 16u);
  EXPECT_EQ(cents.base, board);
  EXPECT_FALSE(cents.index);
  const DataName& count = accessAt(board + 24 + 40 + 24).data;
  EXPECT_EQ(count.field, "workers[1].count");
  EXPECT_EQ(count.index, 1u);
  const DataName& either = accessAt(board + 104).data;
  EXPECT_EQ(either.field, "either.whole | either.half");
}

class TypedBySplitUnits : public Recorded, public testing::WithParamInterface<const char*> {};

/// gcc writes a section of one name for each type there.
TEST_P(TypedBySplitUnits, AreReadLikeOthers) {
  const Program split(std::string(GetParam()) + " -gsplit-dwarf -fdebug-types-section", kSource);
  begin(split);
  for (int i = 0; i < 20; ++i) {
    touch(kThread, "board_count");
    touch(kMain, "bump_count", kHeap);
    touch(kThread, "bill_cents", kHeap);
  }
  analyze();
  EXPECT_EQ(accessAt(split.address("board") + 24 + 40 + 24).data.field, "workers[1].count");
  EXPECT_EQ(accessAt(kHeap + 24).data.because, "pointer `worker` in bump");
  EXPECT_EQ(accessAt(kHeap + 16).data.field, "today.cents");
  for (const std::string& warning : report_.warnings)
    EXPECT_EQ(warning.find(".dwo"), std::string::npos) << warning;
}

INSTANTIATE_TEST_SUITE_P(Versions, TypedBySplitUnits, testing::Values("-gdwarf-4", "-gdwarf-5"));

TEST_F(Untyped, WithoutDebugInformationTheSymbolIsNamedAndTheReasonSaid) {
  const Program plain("-g0", kSource);
  begin(plain);
  touch(kMain, "board_cents");
  touch(kMain, "bump_count", kHeap);
  analyze();
  const DataName& cents = accessAt(plain.address("board") + 16).data;
  EXPECT_EQ(cents.how, How::global);
  EXPECT_EQ(cents.object, "board");
  EXPECT_EQ(cents.type, "");
  EXPECT_FALSE(cents.fieldOffset);
  EXPECT_NE(cents.because.find("no debug information"), std::string::npos);
  const DataName& heap = accessAt(kHeap + 24).data;
  EXPECT_EQ(heap.how, How::unknown);
  EXPECT_NE(heap.because.find("no debug information"), std::string::npos);
  EXPECT_TRUE(report_.types.empty());
}

TEST_F(Typed, AHeapObjectIsNamedByThePointerThatIsLive) {
  for (int i = 0; i < 20; ++i) {
    touch(kMain, "bump_count", kHeap);
    touch(kThread, "bill_cents", kHeap);
  }
  analyze();
  const DataName& count = accessAt(kHeap + 24).data;
  EXPECT_EQ(count.how, How::code);
  EXPECT_EQ(count.type, "worker");
  EXPECT_EQ(count.field, "count");
  EXPECT_EQ(count.fieldOffset, 24u);
  EXPECT_EQ(count.base, kHeap);
  EXPECT_EQ(count.because, "pointer `worker` in bump");
  EXPECT_EQ(count.object, "[heap]");
  EXPECT_EQ(accessAt(kHeap + 16).data.field, "today.cents");
}

TEST_F(Typed, ATypeIsTheSumOfItsInstances) {
  for (int i = 0; i < 20; ++i) {
    touch(kMain, "bump_count", kHeap);
    touch(kThread, "bump_count", kHeap + 40);
    touch(kThread, "bill_cents", kHeap + 0x1000);
  }
  analyze();
  const TypeHeat& type = typeNamed("worker", false);
  EXPECT_EQ(type.instances, 3u);
  EXPECT_EQ(type.lines, 3u);  // the second worker reaches into the next line
  EXPECT_EQ(type.records, 60u);
  EXPECT_EQ(type.layout.size, 40u);
  ASSERT_EQ(type.fields.size(), 2u);
  EXPECT_EQ(type.fields[0].field, "today.cents");
  EXPECT_EQ(type.fields[0].writers, (std::vector<uint32_t>{kThread}));
  EXPECT_EQ(type.fields[1].field, "count");
  EXPECT_EQ(type.fields[1].records, 40u);
  EXPECT_EQ(type.fields[1].writers, (std::vector<uint32_t>{kMain, kThread}));
  EXPECT_TRUE(type.fields[1].readers.empty());
}

TEST_F(Typed, ATypeInsideOfOthersHasASumOverAllOfItsInstances) {
  for (int i = 0; i < 20; ++i) {
    touch(kMain, "bump_count", kHeap);
    touch(kThread, "bill_cents", kHeap);
    touch(kThread, "board_cents");
    touch(kThread, "board_count");
  }
  analyze();
  // Sums of outermost structures do not change, and each sample is in one of them.
  const TypeHeat& heap = typeNamed("worker", false);
  EXPECT_EQ(heap.records, 40u);
  EXPECT_EQ(heap.instances, 1u);
  EXPECT_EQ(typeNamed("board", false).records, 40u);
  const TypeHeat& worker = typeNamed("worker", true);
  EXPECT_EQ(worker.records, 60u);
  EXPECT_EQ(worker.instances, 2u);
  ASSERT_EQ(worker.fields.size(), 2u);
  EXPECT_EQ(worker.fields[0].field, "today.cents");
  EXPECT_EQ(worker.fields[1].field, "count");
  EXPECT_EQ(worker.fields[1].records, 40u);
  EXPECT_EQ(worker.fields[1].writers, (std::vector<uint32_t>{kMain, kThread}));
  const TypeHeat& money = typeNamed("money", true);
  EXPECT_EQ(money.records, 40u);
  EXPECT_EQ(money.instances, 2u);
  EXPECT_EQ(money.lines, 2u);
  EXPECT_EQ(money.layout.size, 16u);
  ASSERT_EQ(money.fields.size(), 1u);
  EXPECT_EQ(money.fields[0].offset, 8u);
  EXPECT_EQ(report_.types.size(), 4u);
  EXPECT_TRUE(report_.types[2].nested && report_.types[3].nested);
}

class AnyElement : public Untyped, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Lengths, AnyElement, testing::Values("8", "", "0"));

TEST_P(AnyElement, IsNoneOfThem) {
  const std::string text = "struct table { long size; struct { long key, hits; } rows[" +
                           std::string(GetParam()) + "]; };" + R"code(
__attribute__((noinline)) void hit(struct table* table, long i) {
  __asm__ volatile(".globl hit_row\nhit_row: incq (%0)\n nop" : : "r"(&table->rows[i].hits) : "memory");
}
void _start(void) { static struct table table; hit(&table, 3); }
)code";
  const Program program("-g", text.c_str());
  begin(program);
  // The register that pointed to the table points to the element now.
  const auto at = [&](uint64_t element) { return kHeap + 8 + 16 * element + 8; };
  for (int i = 0; i < 10; ++i)
    for (const uint64_t element : {1, 3}) touch(kThread, "hit_row", at(element));
  analyze();
  const DataName& data = accessAt(at(3)).data;
  EXPECT_EQ(data.type, "table");
  EXPECT_EQ(data.field, "rows[?].hits");
  EXPECT_FALSE(data.index);
  EXPECT_FALSE(data.fieldOffset);
  ASSERT_EQ(typeNamed("table", false).fields.size(), 1u);
  EXPECT_EQ(typeNamed("table", false).fields[0].field, "rows[?].hits");
  EXPECT_EQ(typeNamed("table", false).instances, 0u);
}

TEST_F(Untyped, ABaseClassHasASumOfItsOwn) {
  const Program program("-g", R"(
struct Root { long id; };
struct Counted : Root { long uses; };
struct Named { long name; };
struct Device : Named, Counted { struct { long inner; } unnamed; Counted other; };
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0\n nop" : "+m"(place))
#define NOINLINE __attribute__((noinline))
Device* device;
NOINLINE void use(Device* device) { ACCESS(use_base, device->uses); }
NOINLINE void identify(Device* device) { ACCESS(use_member, device->other.id); }
NOINLINE void inner(Device* device) { ACCESS(use_unnamed, device->unnamed.inner); }
extern "C" void _start() { use(device); identify(device); inner(device); }
)",
                        true);
  begin(program);
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "use_base", kHeap);
    touch(kThread, "use_member", kHeap);
    touch(kThread, "use_unnamed", kHeap);
  }
  analyze();
  EXPECT_EQ(typeNamed("Device", false).records, 30u);
  const TypeHeat& counted = typeNamed("Counted", true);
  EXPECT_EQ(counted.records, 20u);
  EXPECT_EQ(counted.instances, 2u);
  ASSERT_EQ(counted.fields.size(), 2u);
  EXPECT_EQ(counted.fields[0].field, "id");
  EXPECT_EQ(counted.fields[1].field, "uses");
  EXPECT_EQ(counted.fields[1].offset, 8u);
  EXPECT_EQ(typeNamed("Root", true).records, 10u);
  EXPECT_EQ(report_.types.size(), 3u);  // nothing of Named was touched, and a type without a name has no sum
}

TEST_F(Typed, ObjectsOfOneTypeEndToEndAreOneObjectOfTheSums) {
  for (uint64_t i = 0; i < 200; ++i) {
    touch(kMain, "bump_count", kHeap + i % 8 * 40);
    touch(kThread, "bill_cents", kHeap + i % 8 * 40);
    touch(kThread, "bill_cents", kHeap + 0x1000);
  }
  analyze();
  std::vector<const ObjectSum*> workers;
  for (const ObjectSum& object : report_.objects)
    if (object.object == "worker (heap)") workers.push_back(&object);
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0]->records, 400u);
  EXPECT_EQ(workers[0]->lines, 5u);
  EXPECT_EQ(workers[0]->verdict, Verdict::falseSharing);
  EXPECT_EQ(workers[1]->records, 200u);
  EXPECT_EQ(workers[0]->base, kHeap);
  EXPECT_EQ(workers[1]->base, kHeap + 0x1000);
}

TEST_F(Typed, AMembersPointerGivesWayToTheObjectAroundIt) {
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "bump_count", kHeap);
    touch(kThread, "increment_value", kHeap);        // its first member
    touch(kThread, "increment_value", kHeap + 400);  // no worker
  }
  analyze();
  const DataName& id = accessAt(kHeap).data;
  EXPECT_EQ(id.type, "worker");
  EXPECT_EQ(id.field, "id");
  EXPECT_EQ(accessAt(kHeap + 400).data.type, "long int");
}

TEST_F(Typed, CodeThatSaysNothingIsAnsweredByOtherAccessesToTheObject) {
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "bump_count", kHeap);
    touch(kThread, "raw_access", kHeap + 24);
    touch(kThread, "raw_access", kHeap + 400);
  }
  analyze();
  for (const Line& line : report_.lines) {
    for (const Access& access : line.accesses) {
      if (access.code->symbol != "nothing") continue;
      const bool known = line.address + access.offset == kHeap + 24;
      EXPECT_EQ(access.data.type, known ? "worker" : "");
      EXPECT_EQ(access.data.field, known ? "count" : "");
      EXPECT_EQ(access.data.how, known ? How::code : How::unknown);
    }
  }
  EXPECT_EQ(accessAt(kHeap + 400).data.because, "no variable that is live at the access leads to it");
}

TEST_F(Typed, WhatWasThereAtAnotherTimeSaysNothing) {
  for (int i = 0; i < 10; ++i) touch(kMain, "bump_count", kHeap);
  for (int i = 0; i < 10; ++i) touch(kThread, "raw_access", kHeap + 8);  // freed, and used for something else
  analyze();
  EXPECT_EQ(accessAt(kHeap + 24).data.type, "worker");
  EXPECT_EQ(accessAt(kHeap + 8).data.type, "");
}

TEST_F(Typed, ABlockSaysWhichElementOfWhatArrayAnObjectIs) {
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "bump_count", kHeap + 80);
    touch(kThread, "bump_count", kHeap + 120);
    touch(kThread, "raw_access", kHeap + 0x1000 + 8);
  }
  analyzeWithBlocks({{kHeap, 160}, {kHeap + 0x1000, 96}});
  const DataName& count = accessAt(kHeap + 80 + 24).data;
  EXPECT_EQ(count.how, How::code);
  EXPECT_EQ(count.type, "worker[4]");
  EXPECT_EQ(count.index, 2u);
  EXPECT_EQ(count.field, "count");
  EXPECT_EQ(count.fieldOffset, 104u);
  ASSERT_TRUE(count.allocation);
  EXPECT_EQ(count.allocation->size, 160u);
  const DataName& block = accessAt(kHeap + 0x1008).data;
  EXPECT_EQ(block.how, How::allocation);
  EXPECT_EQ(block.base, kHeap + 0x1000);
  EXPECT_EQ(block.type, "");
  const ObjectSum* sum = objectNamed(report_, "96 bytes allocated in an unknown function");
  ASSERT_TRUE(sum != nullptr && sum->allocation && sum->base == kHeap + 0x1000);
}

/// A block of more bytes than one object needs; nodes of a pool, which are more than a worker apart.
TEST_F(Typed, ABlockIsNoArrayBecauseASizeDividesIt) {
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "bump_count", kHeap);
    for (uint64_t node = 0; node < 5; ++node) touch(kThread, "bump_count", kHeap + 0x1000 + node * 48 + 16);
    for (uint64_t node = 0; node < 3; ++node) touch(kThread, "bump_count", kHeap + 0x2000 + node * 80);
  }
  analyzeWithBlocks({{kHeap, 80}, {kHeap + 0x1000, 240}, {kHeap + 0x2000, 240}});
  for (const uint64_t worker : {0x0, 0x1010, 0x1000 + 2 * 48 + 16, 0x2000, 0x2000 + 80}) {
    const DataName& count = accessAt(kHeap + worker + 24).data;
    EXPECT_EQ(count.type, "worker") << worker;
    EXPECT_EQ(count.field, "count");
    EXPECT_EQ(count.index, std::nullopt);
    EXPECT_TRUE(count.allocation);
  }
}

TEST_F(Untyped, ABlockThatMayBeOneLargerObjectIsNoArrayOfItsParts) {
  static const Program parts("-g", R"(
struct lock { long word, owner; };
struct node { long key; long spare; struct lock first, second; };
struct cell { long value[4]; };
struct node node = {1};
struct cell cell = {{1}};
#define NOINLINE __attribute__((noinline))
#define ACCESS(name, place) \
  __asm__ volatile(".globl " #name "\n" #name ": incq %0\n nop" : "+m"(place))
NOINLINE void take(struct lock *lock) { ACCESS(take_word, lock->word); }
NOINLINE void set(struct cell *cell) { ACCESS(set_value, cell->value[1]); }
NOINLINE void add(long *word) { ACCESS(add_word, *word); }
void _start(void) { take(&node.first); set(&cell); add(&node.key); }
)");
  begin(parts);
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "take_word", kHeap + 32);  // `second` of a node
    touch(kMain, "take_word", kHeap + 16);  // `first`
    touch(kMain, "set_value", kHeap + 0x2000 + 32);
    touch(kThread, "set_value", kHeap + 0x2000 + 64);
    touch(kThread, "add_word", kHeap + 0x3000 + 16);
  }
  analyzeWithBlocks({{kHeap, 48}, {kHeap + 0x2000, 96}, {kHeap + 0x3000, 32}});
  const DataName& lock = accessAt(kHeap + 32).data;
  EXPECT_EQ(lock.type, "lock");
  EXPECT_EQ(lock.field, "word");
  EXPECT_EQ(lock.index, std::nullopt);
  ASSERT_TRUE(lock.allocation);
  const DataName& cell = accessAt(kHeap + 0x2000 + 40).data;
  EXPECT_EQ(cell.type, "cell[3]");
  EXPECT_EQ(cell.field, "value[1]");
  EXPECT_EQ(cell.index, 1u);
  EXPECT_EQ(accessAt(kHeap + 0x3000 + 16).data.type, "long int") << "words fit into every block";
}

TEST_F(Untyped, ElementsOfRowsKeepTheirColumn) {
  static const Program rows("-g", R"(
struct cell { long a, b; };
struct cell grid[3][4] = {{{1}}};
#define NOINLINE __attribute__((noinline))
#define ACCESS(name, place) \
  __asm__ volatile(".globl " #name "\n" #name ": incq %0\n nop" : "+m"(place))
NOINLINE void fixed(void) { ACCESS(fixed_cell, grid[2][1].b); }
NOINLINE void heap(struct cell (*row)[4]) { ACCESS(row_cell, (*row)[1].b); }
void _start(void) { fixed(); heap(grid); }
)");
  begin(rows);
  const uint64_t grid = rows.address("grid");
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "fixed_cell", 0);
    for (const uint64_t row : {2, 3}) touch(kThread, "row_cell", kHeap + row * 64);
  }
  analyzeWithBlocks({{kHeap, 6 * 64}});
  const DataName& fixed = accessAt(grid + 2 * 64 + 24).data;
  EXPECT_EQ(fixed.type, "cell[3][4]");
  EXPECT_EQ(fixed.index, 2u);
  EXPECT_EQ(fixed.field, "[1].b");
  const DataName& row = accessAt(kHeap + 3 * 64 + 24).data;
  EXPECT_EQ(row.type, "cell[6][4]");
  EXPECT_EQ(row.index, 3u);
  EXPECT_EQ(row.field, "[1].b");
}

TEST_F(Untyped, WhatLiesBehindABaseClassIsNoElementOfAnArrayOfIt) {
  static const Program list("-g", R"(
struct Link { Link *next, *previous; };
struct Node : Link { long value; }; struct Other : Link { long sum; } other = {};
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
  EXPECT_EQ(value.type, "");
  EXPECT_EQ(value.index, std::nullopt);
  EXPECT_EQ(
      value.because,
      "a pointer to Link leads out of it, to the next element of an array or a member of what contains it, "
      "and 2 types fit: Node, Other");
}

TEST_F(Untyped, AMemberThatALibraryTouchesIsOneOfTheProgramsObject) {
  static const Program program("-g", R"(
typedef union { struct { int taken; unsigned count; } data; char size[16]; } lock_t; struct session { long id; lock_t guard; long done; } session;
__attribute__((noinline)) void bump(struct session *session) { __asm__ volatile(".globl bump_done\nbump_done: incq %0\n nop" : "+m"(session->done)); } void _start(void) { bump(&session); }
)");
  static const Program library("-g -Wl,-Ttext-segment=0x900000", R"(
union mutex { struct { int taken; unsigned count; } data; char size[16]; } mutex;
#define TOUCH(name, member) __attribute__((noinline)) void name##_at(union mutex *mutex) { __asm__ volatile(".globl " #name "\n" #name ": incl %0\n nop" : "+m"(mutex->data.member)); }
TOUCH(take_it, taken) TOUCH(count_it, count) void _start(void) { take_it_at(&mutex), count_it_at(&mutex); }
)");
  begin(program);
  scenario_.mapFile(kMain, library.path(), 0, 78);
  const auto inLibrary = [&](const std::string& access, uint64_t mutex) {
    scenario_.sample(kMain, kThread, library.after(access), {{kRegDi, mutex}});
  };
  for (int i = 0; i < 10; ++i) inLibrary("count_it", kHeap + 8);  // before the program's own code
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "bump_done", kHeap);
    inLibrary("take_it", kHeap + 8);
  }
  analyze();
  EXPECT_EQ(accessAt(kHeap + 12).data.type, "session");
  EXPECT_TRUE(accessAt(kHeap + 8).data.field.starts_with("guard.data.taken"));
}

}  // namespace
}  // namespace cacheline::analysis
