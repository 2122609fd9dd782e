// Objects that other code than that at the access tells: other accesses, or the call that allocated them.
#include <gtest/gtest.h>

#include "typed_program.h"

namespace cacheline::analysis {
namespace {

using namespace test;
using TypedObjects = Recorded;

/// Containers keep what they hold behind pointers to bytes.
TEST_F(TypedObjects, APointerToBytesSaysNothingOfAWord) {
  static const Program program("-g", R"(
struct worker { long id, count; } worker;
__attribute__((noinline)) void bump(struct worker *worker) { __asm__ volatile(".globl bump_id\nbump_id: incq %0\n nop" : "+m"(worker->id)); }
__attribute__((noinline)) void put(char *bytes) { __asm__ volatile(".globl put_word\nput_word: incq %0\n nop" : "+m"(*(long *)bytes)); }
__attribute__((noinline)) void spell(char *bytes) { __asm__ volatile(".globl put_byte\nput_byte: incb %0\n nop" : "+m"(*bytes)); }
void _start(void) { bump(&worker); put((char *)&worker); spell((char *)&worker); }
)");
  begin(program);
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "bump_id", kHeap);
    touch(kThread, "put_word", kHeap + 8);
    touch(kThread, "put_word", kHeap + 400);  // nobody says what that is
    touch(kThread, "put_byte", kHeap + 800);
  }
  analyze();
  EXPECT_EQ(accessAt(kHeap + 8).data.type, "worker");
  EXPECT_EQ(accessAt(kHeap + 8).data.field, "count");
  EXPECT_EQ(accessAt(kHeap + 400).data.type, "char");
  EXPECT_EQ(accessAt(kHeap + 800).data.type, "char");
}

/// As functions for atomics do that take pointers for integers.
TEST_F(TypedObjects, APointerToAWordGivesWayToTheObjectThatHasAMemberThere) {
  static const Program program("-g", R"(
struct node { long key; struct node *next; int low, high; } node;
__attribute__((noinline)) void visit(struct node *node) { __asm__ volatile(".globl visit_key\nvisit_key: incq %0\n nop" : "+m"(node->key)); }
__attribute__((noinline)) void store(unsigned long *word) { __asm__ volatile(".globl store_word\nstore_word: incq %0\n nop" : "+m"(*word)); }
void _start(void) { visit(&node); store((unsigned long *)&node.next); }
)");
  begin(program);
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "visit_key", kHeap);
    touch(kThread, "store_word", kHeap + 8);
    touch(kThread, "store_word", kHeap + 16);  // two members at once
  }
  analyze();
  EXPECT_EQ(accessAt(kHeap + 8).data.type, "node");
  EXPECT_EQ(accessAt(kHeap + 8).data.field, "next");
  EXPECT_EQ(accessAt(kHeap + 16).data.type, "long unsigned int");
}

/// Nobody knows which one it is, in the sums neither.
TEST_F(TypedObjects, MembersThatShareBytesAreCalledByAllOfTheirNamesInSums) {
  static const Program program("-g", R"(
struct flags { long id; unsigned b1 : 3, b2 : 9, b3 : 20; union { long whole; double ratio; } u; } flags;
__attribute__((noinline)) void bits(struct flags *flags) { __asm__ volatile(".globl bump_bits\nbump_bits: incl 8(%0)\n nop" ::"r"(flags) : "memory"); }
__attribute__((noinline)) void whole(struct flags *flags) { __asm__ volatile(".globl bump_whole\nbump_whole: incq 16(%0)\n nop" ::"r"(flags) : "memory"); }
void _start(void) { bits(&flags); whole(&flags); }
)");
  begin(program);
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "bump_bits", kHeap);
    touch(kThread, "bump_whole", kHeap);
  }
  analyze();
  EXPECT_EQ(accessAt(kHeap + 8).data.field, "b1 | b2 | b3");
  const TypeHeat& flags = typeNamed("flags", false);
  ASSERT_EQ(flags.fields.size(), 2u);
  EXPECT_EQ(flags.fields[0].field, "b1 | b2 | b3");
  EXPECT_EQ(flags.fields[1].field, "u.whole | u.ratio");
}

/// Of two types of one size around a word the name does not depend on what was sampled first.
class TypedObjectsOrder : public TypedObjects, public testing::WithParamInterface<bool> {};

TEST_P(TypedObjectsOrder, NamesTheSame) {
  static const Program program("-g", R"(
struct first { long id; int word; long last; } first;
struct second { long number; int state; long end; } second;
__attribute__((noinline)) void last(struct first *first) { __asm__ volatile(".globl bump_last\nbump_last: incq %0\n nop" : "+m"(first->last)); }
__attribute__((noinline)) void end(struct second *second) { __asm__ volatile(".globl bump_end\nbump_end: incq %0\n nop" : "+m"(second->end)); }
__attribute__((noinline)) void take(int *word) { __asm__ volatile(".globl take_int\ntake_int: incl %0\n nop" : "+m"(*word)); }
void _start(void) { last(&first); end(&second); take(&first.word); }
)");
  begin(program);
  for (int i = 0; i < 10; ++i) {
    touch(kMain, GetParam() ? "bump_last" : "bump_end", kHeap);
    touch(kThread, GetParam() ? "bump_end" : "bump_last", kHeap);
    touch(kThread, "take_int", kHeap + 8);
  }
  analyze();
  EXPECT_EQ(accessAt(kHeap + 8).data.type, "first");
  EXPECT_EQ(accessAt(kHeap + 8).data.field, "word");
}
INSTANTIATE_TEST_SUITE_P(Orders, TypedObjectsOrder, testing::Bool());

/// No variable points to them, and the type of the first one's address is that of any.
TEST_F(TypedObjects, TheFirstElementIsNumberedAsTheOthersAre) {
  static const Program program("-g", R"(
struct slot { int hits, misses; };
struct table { struct slot *slots; } table;
__attribute__((noinline)) void hit(struct table *table, long i) { __asm__ volatile(".globl hit_slot\nhit_slot: incl %0\n nop" : "+m"(table->slots[i].misses)); }
void _start(void) { hit(&table, 1); }
)");
  begin(program);
  for (int i = 0; i < 10; ++i)
    for (uint64_t slot = 0; slot < 3; ++slot)
      scenario_.sample(kMain, kThread, program.after("hit_slot"),
                       {{kRegDi, kHeap + 0x4000}, {kRegAx, kHeap}, {kRegSi, slot}});
  analyze();
  for (uint64_t slot = 0; slot < 3; ++slot) {
    const DataName& data = accessAt(kHeap + 8 * slot + 4).data;
    EXPECT_EQ(data.type, "slot");
    EXPECT_EQ(data.index, slot);
    EXPECT_EQ(data.base, kHeap);
  }
}

TEST_F(TypedObjects, ABlockIsTheObjectThatItsAllocationTakesItFor) {
  static const Program program("-g", R"(
struct counts { long hits, misses; };
struct shard { long id; struct counts counts[2]; long spare[3]; };
char pool[4096];
#define NOINLINE __attribute__((noinline))
NOINLINE void *reserve(unsigned long size) { __asm__ volatile("" : "+r"(size) : : "memory"); return pool; }
NOINLINE struct shard *make(void) { struct shard *shard = reserve(sizeof *shard); shard->id = 1; return shard; }
NOINLINE void bump(struct counts *counts) { __asm__ volatile(".globl bump_hits\nbump_hits: incq %0\n nop" : "+m"(counts->hits)); }
NOINLINE void nothing(void) { __asm__ volatile(".globl raw_access\nraw_access: incq (%rdi)\n nop"); }
void _start(void) { bump(&make()->counts[0]); nothing(); }
)");
  begin(program);
  constexpr uint64_t kLarger = kHeap + 0x1000;
  for (int i = 0; i < 10; ++i)
    for (const uint64_t block : {kHeap, kLarger}) {
      touch(kMain, "bump_hits", block + 8 + 16);
      touch(kThread, "raw_access", block + 40 + 8);
    }
  analyzeWithBlocks({{kHeap, 64}, {kLarger, 96}}, {program.afterCall("make", "reserve")});
  const DataName& hits = accessAt(kHeap + 24).data;
  EXPECT_EQ(hits.how, How::code);
  EXPECT_EQ(hits.type, "shard");
  EXPECT_EQ(hits.field, "counts[1].hits");
  const DataName& spare = accessAt(kHeap + 48).data;
  EXPECT_EQ(spare.how, How::allocation);
  EXPECT_EQ(spare.type, "shard");
  EXPECT_EQ(spare.field, "spare[1]");
  EXPECT_EQ(spare.base, kHeap);
  // More than one, for whatever reason.
  EXPECT_EQ(accessAt(kLarger + 24).data.type, "counts");
  EXPECT_EQ(accessAt(kLarger + 48).data.type, "");
}

/// Objects that are to be destroyed have their number ahead of them.
TEST_F(TypedObjects, ElementsBehindTheCookieOfAnArrayAreCountedFromThere) {
  static const Program program("-g -fno-exceptions -fno-rtti", R"(
struct Worker { long id, count, more; ~Worker() { __asm__ volatile("" : : "r"(id)); } };
struct alignas(32) Slot { long id, hits; ~Slot() { __asm__ volatile("" : : "r"(id)); } };
namespace std { enum class align_val_t : unsigned long {}; }
char pool[4096];
#define NOINLINE __attribute__((noinline))
NOINLINE void *operator new[](unsigned long size) { __asm__ volatile("" : "+r"(size) : : "memory"); return pool; }
NOINLINE void *operator new[](unsigned long size, std::align_val_t) { __asm__ volatile("" : "+r"(size) : : "memory"); return pool; }
extern "C" {
NOINLINE Worker *workers() { return new Worker[9]; }
NOINLINE Slot *slots() { return new Slot[9]; }
NOINLINE void count(Worker *worker) { __asm__ volatile(".globl worker_count\nworker_count: incq %0\n nop" : "+m"(worker->count)); }
NOINLINE void hit(Slot *slot) { __asm__ volatile(".globl slot_hits\nslot_hits: incq %0\n nop" : "+m"(slot->hits)); }
void _start() { count(workers()); hit(slots()); }
}
)",
                               true);
  begin(program);
  constexpr uint64_t kWorkers = kHeap, kSlots = kHeap + 0x1000, kUnknown = kHeap + 0x2000,
                     kSeen = kHeap + 0x3000;
  for (int i = 0; i < 10; ++i) {
    for (const uint64_t element : {3, 4}) {
      touch(kThread, "worker_count", kWorkers + 8 + 24 * element);
      touch(kThread, "slot_hits", kSlots + 32 + 32 * element);
      touch(kThread, "worker_count", kUnknown + 16 + 24 * element);
      touch(kThread, "worker_count", kSeen + 8 + 24 * element);
    }
  }
  heap::test::FileBuilder file;
  auto& chunk = file.chunk(kMain, kMain);
  chunk.record(HEAP_STACK, 1, {1, program.afterCall("workers", "_Znam")});
  chunk.record(HEAP_STACK, 1, {2, program.afterCall("slots", "_ZnamSt11align_val_t")});
  chunk.allocate(1, kWorkers, 8 + 9 * 24, 1);
  chunk.allocate(2, kSlots, 32 + 9 * 32, 2);
  for (const uint64_t block : {kUnknown, kSeen}) chunk.allocate(3, block, 8 + 9 * 24, 0);
  analyzeWithHeap(file);
  for (const uint64_t element : {3, 4}) {
    const DataName& worker = accessAt(kWorkers + 8 + 24 * element + 8).data;
    EXPECT_EQ(worker.type, "Worker[9]");
    EXPECT_EQ(worker.field, "count");
    EXPECT_EQ(worker.index, element);
    EXPECT_EQ(worker.base, kWorkers + 8);
    const DataName& slot = accessAt(kSlots + 32 + 32 * element + 8).data;
    EXPECT_EQ(slot.type, "Slot[9]") << "the size divides the block's with the cookie, too";
    EXPECT_EQ(slot.index, element);
    EXPECT_EQ(accessAt(kSeen + 8 + 24 * element + 8).data.index, element) << "by its size and neighbours";
    const DataName& unknown = accessAt(kUnknown + 16 + 24 * element + 8).data;
    EXPECT_EQ(unknown.type, "Worker");
    EXPECT_EQ(unknown.index, std::nullopt) << "no such array begins there";
  }
}

TEST_F(TypedObjects, APoolIsNoArrayOfWhatIsFirstInIt) {
  static const Program program("-g", R"(
struct session { long id, hits, pad[2]; };
struct route { long uses; int metric; };
char pool[4096];
#define NOINLINE __attribute__((noinline))
NOINLINE void *reserve(unsigned long size) { __asm__ volatile("" : "+r"(size) : : "memory"); return pool; }
NOINLINE struct session *first(void) { struct session *session = reserve(128); session->id = 1; return session; }
NOINLINE void hit(struct session *session) { __asm__ volatile(".globl session_hits\nsession_hits: incq %0\n nop" : "+m"(session->hits)); }
NOINLINE void use(struct route *route) { __asm__ volatile(".globl route_uses\nroute_uses: incq %0\n nop" : "+m"(route->uses)); }
void _start(void) { hit(first()); use((struct route *)(pool + 32)); }
)");
  begin(program);
  constexpr uint64_t kArray = kHeap + 0x1000;
  for (int i = 0; i < 10; ++i) {
    for (const uint64_t slot : {0, 2}) {
      touch(kThread, "session_hits", kHeap + 32 * slot);
      touch(kThread, "route_uses", kHeap + 32 + 32 * slot);
      touch(kThread, "session_hits", kArray + 32 * slot);
    }
  }
  analyzeWithBlocks({{kHeap, 128}, {kArray, 128}}, {program.afterCall("first", "reserve")});
  EXPECT_EQ(accessAt(kArray + 64 + 8).data.type, "session[4]");
  EXPECT_EQ(accessAt(kArray + 64 + 8).data.index, 2u);
  EXPECT_EQ(accessAt(kHeap + 64 + 8).data.type, "session");
  EXPECT_EQ(accessAt(kHeap + 64 + 8).data.index, std::nullopt) << "routes lie between";
}

TEST_F(TypedObjects, ABlockOfBytesIsAnArrayOfThem) {
  static const Program program("-g", R"(
char pool[4096];
#define NOINLINE __attribute__((noinline))
NOINLINE void *reserve(unsigned long size) { __asm__ volatile("" : "+r"(size) : : "memory"); return pool; }
NOINLINE char *make(void) { char *text = reserve(64); *text = 1; return text; }
NOINLINE void spell(char *text) { __asm__ volatile(".globl spell_byte\nspell_byte: incb %0\n nop" : "+m"(*text)); }
NOINLINE void set(_Bool *flag) { __asm__ volatile(".globl set_flag\nset_flag: incb %0\n nop" : "+m"(*flag)); }
void _start(void) { spell(make()); set((_Bool *)make()); }
)");
  begin(program);
  constexpr uint64_t kOther = kHeap + 0x1000;
  for (int i = 0; i < 10; ++i) {
    touch(kThread, "spell_byte", kHeap + 8);
    touch(kThread, "set_flag", kOther + 9);
  }
  analyzeWithBlocks({{kHeap, 64}, {kOther, 64}}, {program.afterCall("make", "reserve")});
  EXPECT_EQ(accessAt(kHeap + 8).data.type, "char[64]");
  EXPECT_EQ(accessAt(kHeap + 8).data.index, 8u);
  EXPECT_EQ(accessAt(kOther + 9).data.type, "_Bool") << "of something that is built in the bytes";
  EXPECT_EQ(accessAt(kOther + 9).data.index, std::nullopt);
}

TEST_F(TypedObjects, ABlockThatAFunctionKeepsIsNotWhatItReturns) {
  static const Program program("-g", R"(
struct conn { long id; void *buffer; long rest[6]; };
char pool[4096];
#define NOINLINE __attribute__((noinline))
NOINLINE void *reserve(unsigned long size) { __asm__ volatile("" : "+r"(size) : : "memory"); return pool; }
NOINLINE struct conn *idle(void) { struct conn *conn; __asm__ volatile("mov %%rdi, %0" : "=r"(conn)); return conn; }
NOINLINE struct conn *conn_new(void) { struct conn *conn = idle(); conn->buffer = reserve(64); return conn; }
NOINLINE void use(struct conn *conn) { __asm__ volatile("" : "+m"(conn->id)); }
NOINLINE void nothing(void) { __asm__ volatile(".globl kept_access\nkept_access: incq (%rdi)\n nop"); }
void _start(void) { use(conn_new()); nothing(); }
)");
  begin(program);
  for (int i = 0; i < 10; ++i) touch(kThread, "kept_access", kHeap + 16);
  analyzeWithBlocks({{kHeap, 64}},
                    {program.afterCall("conn_new", "reserve"), program.afterCall("_start", "conn_new")});
  EXPECT_EQ(accessAt(kHeap + 16).data.type, "");
}

/// The register that pointed to the object points to the element now, and which one it is nobody knows.
TEST_F(TypedObjects, AnElementInsideOfAnObjectGoesByTheObject) {
  static const Program program("-g", R"code(
struct cell { long n[4]; };
struct grid { long used; struct cell cells[3][4]; };
#define NOINLINE __attribute__((noinline))
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq (%0)\n nop" : : "D"(&place) : "memory")
struct grid *grid; struct cell *cell;
NOINLINE void any(struct grid *grid, long i, long j) { ACCESS(bump_any, grid->cells[i][j].n[1]); }
NOINLINE void named(struct grid *grid, long i, long j) { struct cell *cell = &grid->cells[i][j]; ACCESS(bump_named, cell->n[2]); }
NOINLINE void one(struct cell *cell) { ACCESS(bump_one, cell->n[3]); }
NOINLINE void row(struct cell (*row)[4], long j) { ACCESS(bump_row, (*row)[j].n[0]); }
void _start(void) { any(grid, 1, 2); named(grid, 1, 2); one(cell); row(grid->cells, 2); }
)code");
  begin(program);
  const auto at = [](uint64_t cell, uint64_t n) { return kHeap + 8 + 32 * cell + 8 * n; };
  for (int i = 0; i < 10; ++i) {
    for (const uint64_t cell : {5, 6}) {
      touch(kThread, "bump_any", at(cell, 1));
      touch(kThread, "bump_named", at(cell, 2));
    }
    touch(kMain, "bump_one", at(9, 3));
    touch(kMain, "bump_row", at(7, 0));
  }
  analyze();
  for (const uint64_t n : {1, 2}) {
    const DataName& data = accessAt(at(5, n)).data;
    EXPECT_EQ(data.type, "grid");
    EXPECT_EQ(data.field, "cells[?][?].n[" + std::to_string(n) + "]");
    EXPECT_EQ(data.index, std::nullopt);
    EXPECT_EQ(data.base, std::nullopt);
    EXPECT_EQ(data.because, "type of the address followed through the code");
  }
  EXPECT_EQ(accessAt(at(9, 3)).data.type, "cell") << "no code says what holds it";
  EXPECT_EQ(accessAt(at(9, 3)).data.base, at(9, 0));
  EXPECT_EQ(accessAt(at(7, 0)).data.type, "cell") << "what is pointed to is a part of something itself";
  const TypeHeat& grid = typeNamed("grid", false);
  EXPECT_EQ(grid.instances, 0u) << "nobody knows";
  ASSERT_EQ(grid.fields.size(), 2u);
  EXPECT_EQ(grid.fields[0].field, "cells[?][?].n[1]");
  const TypeHeat& cell = typeNamed("cell", true);
  EXPECT_EQ(cell.instances, 4u);
  ASSERT_EQ(cell.fields.size(), 4u);
  EXPECT_EQ(cell.fields[1].field, "n[1]");
  EXPECT_EQ(cell.fields[1].records, 20u);

  analyzeWithBlocks({{kHeap + 8 + 32 * 4, 100}});
  EXPECT_EQ(accessAt(at(5, 1)).data.type, "cell") << "the block has no room for a grid";
  analyzeWithBlocks({{kHeap, 8 + 12 * 32}});
  EXPECT_EQ(accessAt(at(5, 1)).data.type, "grid");
  EXPECT_EQ(accessAt(at(5, 1)).data.field, "cells[1][1].n[1]");
  EXPECT_EQ(accessAt(at(5, 1)).data.base, kHeap);
}

TEST_F(TypedObjects, AnElementThatOthersKnowIsNoneOfThemStill) {
  static const Program program("-g", R"code(
struct table { long size; struct { long key, hits; } rows[8]; };
#define NOINLINE __attribute__((noinline))
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq (%0)\n nop" : : "D"(&place) : "memory")
struct table *table;
NOINLINE void any(struct table* table, long i) { ACCESS(hit_any, table->rows[i].hits); }
NOINLINE void one(__typeof__(&table->rows[0]) row) { ACCESS(hit_one, row->key); }
void _start(void) { any(table, 3); one(0); }
)code");
  begin(program);
  constexpr uint64_t kRow = kHeap + 8 + 3 * 16;
  for (int i = 0; i < 10; ++i) {
    touch(kThread, "hit_any", kRow + 8);
    touch(kMain, "hit_one", kRow);
  }
  analyze();
  EXPECT_EQ(accessAt(kRow + 8).data.type, "table");
  EXPECT_EQ(accessAt(kRow + 8).data.field, "rows[?].hits");
  EXPECT_EQ(accessAt(kRow).data.field, "key");
}

/// As Go's linker does with `var first = &Worker{}`.
TEST_F(TypedObjects, AnObjectOfTheBinaryThatHasNoSymbolGoesByTheCode) {
  static const Program program("-g", R"(
struct worker { long id, done; };
__asm__(".data\n.balign 64\n.globl marked\n.type marked,@object\n.size marked,64\nmarked: .zero 64\n.Lhidden: .quad 1, 2\n.zero 48\n.text");
__attribute__((noinline)) void work(struct worker *worker) { __asm__ volatile(".globl worker_done\nworker_done: incq %0\n nop" : "+m"(worker->done)); }
void _start(void) { work(0); }
)");
  begin(program);
  const uint64_t hidden = program.address("marked") + 64;
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "worker_done", hidden);
    touch(kThread, "worker_done", hidden);
  }
  analyze();
  const DataName& data = accessAt(hidden + 8).data;
  EXPECT_EQ(data.type, "worker");
  EXPECT_EQ(data.field, "done");
  EXPECT_EQ(data.base, hidden);
  EXPECT_EQ(objectName(data), "worker (typed)");
}

TEST(DataNames, AnObjectInAMappedFileGoesByItsType) {
  DataName data;
  data.object = "data.mdb";
  EXPECT_EQ(objectName(data), "data.mdb");
  data.how = How::code;
  data.type = "Page";
  EXPECT_EQ(objectName(data), "Page (data.mdb)");
}

}  // namespace
}  // namespace cacheline::analysis
