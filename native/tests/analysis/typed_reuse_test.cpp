// Objects that lay at one address one after the other.
#include <gtest/gtest.h>

#include "typed_program.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr const char* kProgram = R"(
struct table { long rows[32]; };
struct conn { long id, packets, rest[6]; };
struct sub { struct conn conn; long more[8]; };
char pool[4096];
#define NOINLINE __attribute__((noinline))
NOINLINE void *reserve(unsigned long size) { __asm__ volatile("" : "+r"(size) : : "memory"); return pool; }
NOINLINE struct table *make_table(void) { struct table *t = reserve(sizeof *t); t->rows[0] = 1; return t; }
NOINLINE struct conn *make_conn(void) { struct conn *c = reserve(sizeof *c); c->id = 1; return c; }
NOINLINE struct conn *other_conn(void) { struct conn *c = reserve(sizeof *c); c->id = 2; return c; }
NOINLINE void use_table(struct table *table) { __asm__ volatile(".globl table_row\ntable_row: incq %0\n nop" : "+m"(table->rows[9])); }
NOINLINE void use_sub(struct sub *sub) { __asm__ volatile(".globl sub_packets\nsub_packets: incq %0\n nop" : "+m"(sub->conn.packets)); }
NOINLINE void raw_add(long *word) { __asm__ volatile(".globl raw_word\nraw_word: incq %0\n nop" : "+m"(*word)); }
NOINLINE void use_conn(struct conn *conn) { __asm__ volatile(".globl conn_packets\nconn_packets: incq %0\n nop" : "+m"(conn->packets)); }
void _start(void) { use_table(make_table()); use_conn(make_conn()); use_conn(other_conn()); raw_add(0); use_sub(0); }
)";
constexpr uint64_t kConn = kHeap + 64, kPlace = kHeap + 72;  // packets, and before that rows[9]

class TypedReuse : public Recorded {
 protected:
  TypedReuse() {
    static const Program program("-g", kProgram);
    begin(program);
  }
  /// `count` accesses of either thread; returns when the last of them was.
  uint64_t touchBoth(const std::string& access, uint64_t argument, int count) {
    for (int i = 0; i < count; ++i) {
      touch(kMain, access, argument);
      touch(kThread, access, argument);
    }
    return scenario_.time();
  }
  uint64_t callIn(const std::string& function) const { return program_->afterCall(function, "reserve"); }
};

TEST_F(TypedReuse, ARowsBlockIsThatOfItsOwnSamples) {
  const uint64_t freed = touchBoth("table_row", kHeap, 40) + 1;
  touchBoth("conn_packets", kConn, 30);
  analyzeWithTimedBlocks(
      {{kHeap, 256, callIn("make_table"), 1, freed}, {kConn, 64, callIn("make_conn"), freed}});
  const DataName& row = dataAt(kPlace, "table_row");
  EXPECT_EQ(row.type, "table");
  EXPECT_EQ(row.base, kHeap);
  EXPECT_EQ(row.allocation->function, "make_table");
  EXPECT_EQ(row.because.find("other block"), std::string::npos) << row.because;
  const DataName& packets = dataAt(kPlace, "conn_packets");
  EXPECT_EQ(packets.type, "conn");
  EXPECT_EQ(packets.base, kConn);
  EXPECT_EQ(packets.allocation->function, "make_conn");
  EXPECT_EQ(packets.allocation->size, 64u);
}

TEST_F(TypedReuse, ARowOfSeveralBlocksSaysSo) {
  const uint64_t freed = touchBoth("conn_packets", kConn, 30) + 1;
  touchBoth("conn_packets", kConn, 90);
  analyzeWithTimedBlocks(
      {{kConn, 64, callIn("make_conn"), 1, freed}, {kConn, 64, callIn("other_conn"), freed}});
  const DataName& packets = dataAt(kPlace, "conn_packets");
  EXPECT_EQ(packets.allocation->function, "other_conn");
  EXPECT_NE(packets.because.find("25% of the samples fell into 1 other block that was there before or after: "
                                 "64 bytes allocated in make_conn (typed.c:9)"),
            std::string::npos)
      << packets.because;
}

/// As a pool does that frees and allocates all the time.
TEST_F(TypedReuse, BlocksOfOneCallAreCounted) {
  std::vector<TimedBlock> blocks;
  uint64_t from = 1;
  for (int i = 0; i < 100; ++i) {
    const uint64_t until = touchBoth("conn_packets", kConn, 1) + 1;
    blocks.push_back({kConn, 64, callIn("make_conn"), from, until});
    from = until;
  }
  analyzeWithTimedBlocks(blocks);
  const DataName& packets = dataAt(kPlace, "conn_packets");
  EXPECT_EQ(packets.allocation->function, "make_conn");
  EXPECT_NE(packets.because.find("100 blocks from the same call were there, one after another"),
            std::string::npos)
      << packets.because;
}

/// A stale sample, or one whose block was not recorded when it was there.
TEST_F(TypedReuse, ABlockThatDoesNotHoldTheObjectIsNotItsOwn) {
  const uint64_t freed = touchBoth("conn_packets", kConn, 30) + 1;
  touchBoth("conn_packets", kConn, 10);
  analyzeWithTimedBlocks(
      {{kPlace, 16, callIn("make_table"), 1, freed}, {kConn, 64, callIn("make_conn"), freed}});
  const DataName& packets = dataAt(kPlace, "conn_packets");
  EXPECT_EQ(packets.type, "conn");
  EXPECT_EQ(packets.base, kConn);
  EXPECT_EQ(packets.allocation->function, "make_conn");
}

/// As a lock's function does: its own code does not say of what it is.
TEST_F(TypedReuse, OneInstructionOnTwoObjectsNamesBoth) {
  const auto use = [&](const std::string& access, uint64_t object, int count) {
    for (int i = 0; i < count; ++i) {
      touchBoth(access, object, 1);
      touchBoth("raw_word", kPlace, 1);
    }
    return scenario_.time() + 1;
  };
  const uint64_t freed = use("table_row", kHeap, 100);
  use("conn_packets", kConn, 300);
  for (const bool blocks : {false, true}) {
    if (blocks)
      analyzeWithTimedBlocks(
          {{kHeap, 256, callIn("make_table"), 1, freed}, {kConn, 64, callIn("make_conn"), freed}});
    else
      analyze();
    const DataName& word = dataAt(kPlace, "raw_word");
    EXPECT_EQ(word.type, "conn");
    EXPECT_EQ(word.field, "packets | table.rows[9]");
    EXPECT_EQ(word.base, kConn);
    EXPECT_NE(word.because.find("% of the samples were taken at another time, when table.rows[9] was there"),
              std::string::npos)
        << word.because;
    // 400 of either instruction at the table, 1200 at the conn; of those that share a row, by a few of them.
    const TypeHeat &conn = typeNamed("conn", false), &table = typeNamed("table", false);
    EXPECT_EQ(conn.records + table.records, 1600u);
    EXPECT_NEAR(static_cast<double>(table.records), 400, 30);
    EXPECT_NEAR(static_cast<double>(conn.records), 1200, 30);
    const ObjectSum* object = objectNamed(report_, "table (heap)");
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(object->records, table.records);
  }
}

/// At first only code for what the object begins with touches it.
TEST_F(TypedReuse, APartOfAnObjectIsNoOther) {
  for (const char* access : {"conn_packets", "sub_packets"})
    for (int i = 0; i < 30; ++i) {
      touchBoth(access, kConn, 1);
      touchBoth("raw_word", kPlace, 1);
    }
  analyze();
  EXPECT_EQ(dataAt(kPlace, "raw_word").type, "sub");
  EXPECT_EQ(dataAt(kPlace, "raw_word").field, "conn.packets");
}

/// A ring buffer: what is at a place has several addresses at the same time.
TEST_F(TypedReuse, AFileThatIsMappedTwiceIsCountedFromItsStart) {
  constexpr uint64_t kPage = 0x1000, kFirst = 0x7000000, kAgain = 0x6000000;
  scenario_.shared(kMain, kFirst, 2 * kPage, 9, 0);
  scenario_.shared(kMain, kAgain, kPage, 9, kPage);
  for (uint64_t conn = 0; conn < 4 * 64; conn += 64) {
    touchBoth("conn_packets", kFirst + kPage + conn, 10);
    touchBoth("conn_packets", kAgain + conn, 3);
  }
  heap::test::FileBuilder file;
  file.chunk(kMain, kMain).map(1, kFirst, 2 * kPage).map(2, kAgain, kPage);
  analyzeWithHeap(file);
  const DataName& packets = dataAt(kAgain + 64 + 8, "conn_packets");
  EXPECT_EQ(packets.type, "conn[128]");
  EXPECT_EQ(packets.index, 65u);
  EXPECT_EQ(packets.base, kAgain - kPage);
  EXPECT_EQ(packets.allocation->size, 2 * kPage);
  ASSERT_FALSE(report_.objects.empty());
  EXPECT_EQ(report_.objects[0].base, packets.base);
  EXPECT_EQ(packets.because.find("other block"), std::string::npos) << packets.because;
}

/// A register keeps the address of an object that was freed, and another object lies there by now.
TEST_F(TypedReuse, AStalePointerInSomeSamplesNamesNothing) {
  static const Program program("-g", R"(
struct item { long id, count; };
struct table { long rows[32]; };
__attribute__((noinline)) void bump(struct item *item, struct table *table) {
  __asm__ volatile(".globl item_count\nitem_count: incq %0\n nop" : "+m"(item->count));
  __asm__ volatile("" : : "r"(table));
}
void _start(void) { bump(0, 0); }
)");
  begin(program);
  for (int i = 0; i < 30; ++i)
    for (const uint32_t tid : {kMain, kThread})
      scenario_.sample(kMain, tid, program.after("item_count"),
                       {{kRegDi, kHeap}, {kRegSi, i % 5 == 0 ? kHeap - 64 : kHeap + 0x1000}});
  analyze();
  EXPECT_EQ(dataAt(kHeap + 8, "item_count").type, "item");
}

}  // namespace
}  // namespace cacheline::analysis
