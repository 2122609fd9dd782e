// One place, several blocks and objects in time: what each sample speaks for.
#include <gtest/gtest.h>

#include "typed_program.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr const char* kTurnsProgram = R"(
struct table { long rows[32]; };
struct conn { long id, packets, rest[6]; };
struct sub { struct conn conn; long more[8]; };
struct note { long text[12]; };
struct cell { long value, uses; };
struct pool { long used; struct cell cells[]; };
struct box { long words[6]; };
struct empty {};
char memory[4096];
#define NOINLINE __attribute__((noinline))
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0\n nop\n nop" : "+m"(place))
NOINLINE void *reserve(unsigned long size) { __asm__ volatile("" : "+r"(size) : : "memory"); return memory; }
NOINLINE struct table *make_table(void) { struct table *t = reserve(sizeof *t); t->rows[0] = 1; return t; }
NOINLINE struct conn *make_conn(void) { struct conn *c = reserve(sizeof *c); c->id = 1; return c; }
NOINLINE struct conn *other_conn(void) { struct conn *c = reserve(sizeof *c); c->id = 2; return c; }
NOINLINE void use_table(struct table *table) { ACCESS(table_row, table->rows[9]); }
NOINLINE void use_sub(struct sub *sub) { ACCESS(sub_packets, sub->conn.packets); }
NOINLINE void use_note(struct note *note) { ACCESS(note_text, note->text[5]); }
NOINLINE void use_conn(struct conn *conn) { ACCESS(conn_packets, conn->packets); }
NOINLINE void use_cell(struct cell *cell) { ACCESS(cell_uses, cell->uses); }
NOINLINE void use_pool(struct pool *pool) { ACCESS(pool_uses, pool->cells[4].uses); }
NOINLINE void use_box(struct box *box) { ACCESS(box_word, box->words[1]); }
NOINLINE void use_empty(struct empty *empty) { ACCESS(empty_word, *(long *)empty); }
NOINLINE void raw_add(long *word) { ACCESS(raw_word, *word); }
NOINLINE void nothing(void) { __asm__ volatile(".globl raw_access\nraw_access: incq (%rdi)\n nop"); }
void _start(void) {
  nothing(); use_table(make_table()); use_conn(make_conn()); use_conn(other_conn()); raw_add(0); use_sub(0);
  use_note(0); use_cell(0); use_pool(0); use_box(0); use_empty(0);
}
)";
constexpr uint64_t kTurnsConn = kHeap + 64, kPackets = kHeap + 72;  // and rows[9] of a table at kHeap

class TypedTurns : public Recorded {
 protected:
  TypedTurns() {
    static const Program program("-g", kTurnsProgram);
    begin(program);
  }
  /// `count` accesses of either thread; returns a time behind them.
  uint64_t use(const std::string& access, uint64_t argument, int count) {
    for (int i = 0; i < count; ++i) {
      touch(kMain, access, argument);
      touch(kThread, access, argument);
    }
    return scenario_.time() + 1;
  }
  /// With as many of code that does not say of what the word is.
  uint64_t useBeside(const std::string& access, uint64_t argument, int count, uint64_t word = kPackets) {
    for (int i = 0; i < count; ++i) {
      use(access, argument, 1);
      use("raw_word", word, 1);
    }
    return scenario_.time() + 1;
  }
  uint64_t callIn(const std::string& function) const { return program_->afterCall(function, "reserve"); }
  const DataName& packets() { return dataAt(kPackets, "conn_packets"); }
  const DataName& rawWord(uint64_t word = kPackets) { return dataAt(word, "raw_word"); }
};

using TypedBlocks = TypedTurns;

TEST_F(TypedBlocks, OfOthersTheOneWithMostSamplesIsNamed) {
  const uint64_t first = use("conn_packets", kTurnsConn, 10);
  const uint64_t second = use("conn_packets", kTurnsConn, 30);
  use("conn_packets", kTurnsConn, 60);
  analyzeWithTimedBlocks({{kTurnsConn, 72, callIn("make_table"), 1, first},
                          {kTurnsConn, 80, callIn("other_conn"), first, second},
                          {kTurnsConn, 64, callIn("make_conn"), second}});
  EXPECT_EQ(packets().allocation->function, "make_conn");
  EXPECT_NE(packets().because.find("40% of the samples fell into 2 other blocks that were there before or "
                                   "after, most into one of 80 bytes allocated in other_conn (typed.c:"),
            std::string::npos)
      << packets().because;
}

TEST_F(TypedBlocks, FewSamplesOfAnotherAreSaidToBeFew) {
  const uint64_t first = use("conn_packets", kTurnsConn, 1);
  use("conn_packets", kTurnsConn, 150);
  analyzeWithTimedBlocks(
      {{kTurnsConn, 80, callIn("other_conn"), 1, first}, {kTurnsConn, 64, callIn("make_conn"), first}});
  EXPECT_NE(packets().because.find("less than 1% of the samples fell into 1 other block"), std::string::npos)
      << packets().because;
}

TEST_F(TypedBlocks, OneThatComesAfterManySamplesIsFound) {
  const uint64_t first = use("conn_packets", kTurnsConn, 20);
  use("conn_packets", kTurnsConn, 100);
  analyzeWithTimedBlocks({{kTurnsConn, 64, callIn("make_conn"), first}});
  ASSERT_TRUE(packets().allocation);
  EXPECT_EQ(packets().allocation->function, "make_conn");
}

/// As an arena's are. Not every sample in a mapping is looked up: those that are speak for the others.
TEST_F(TypedBlocks, AMappingMayHaveBlocksInIt) {
  use("conn_packets", kTurnsConn, 150);
  const uint64_t allocated = scenario_.time() + 1;
  use("conn_packets", kTurnsConn, 60);
  heap::test::FileBuilder file;
  file.chunk(kMain, kMain).map(1, kHeap, 0x1000).allocate(allocated, kTurnsConn, 64);
  analyzeWithHeap(file);
  EXPECT_EQ(packets().allocation->size, 0x1000u) << "most of the time";
  EXPECT_EQ(packets().because.find("other block"), std::string::npos) << packets().because;

  use("conn_packets", kTurnsConn, 400);
  analyzeWithHeap(file);
  EXPECT_EQ(packets().allocation->size, 64u);
  EXPECT_EQ(packets().because.find("other block"), std::string::npos) << "the mapping is around it";
}

TEST_F(TypedBlocks, OneThatHoldsTheWholeObjectIsRather) {
  const uint64_t first = use("conn_packets", kTurnsConn, 60);
  use("conn_packets", kTurnsConn, 30);
  analyzeWithTimedBlocks(
      {{kTurnsConn, 32, callIn("other_conn"), 1, first}, {kTurnsConn, 64, callIn("make_conn"), first}});
  EXPECT_EQ(packets().allocation->function, "make_conn");
}

TEST_F(TypedBlocks, OneThatBeginsInsideOfTheObjectIsNotIts) {
  use("conn_packets", kTurnsConn, 30);
  analyzeWithTimedBlocks({{kPackets, 64, callIn("make_conn")}});
  EXPECT_FALSE(packets().allocation);
}

/// Samples of one instruction arrive at several.
TEST_F(TypedBlocks, AreCountedOnceForAllPlacesThatSamplesArriveAt) {
  std::vector<TimedBlock> blocks;
  uint64_t from = 1;
  for (int i = 0; i < 30; ++i) {
    touch(kMain, "conn_packets", kTurnsConn);
    scenario_.sample(kMain, kThread, program_->after("conn_packets") + 1, {{kRegDi, kTurnsConn}});
    const uint64_t until = scenario_.time() + 1;
    blocks.push_back({kTurnsConn, 64, callIn("make_conn"), from, until});
    from = until;
  }
  analyzeWithTimedBlocks(blocks);
  EXPECT_NE(packets().because.find("; 30 blocks from the same call"), std::string::npos) << packets().because;
}

/// It frees what it inherited, and its parent has it still.
TEST_F(TypedBlocks, AChildHasItsOwn) {
  constexpr uint32_t kChild = 300;
  use("conn_packets", kTurnsConn, 10);
  scenario_.process(kMain, kChild);
  const uint64_t forked = scenario_.time();
  scenario_.thread(kChild, kChild + 1);
  const auto useInChild = [&](int count) {
    for (int i = 0; i < count; ++i)
      for (const uint32_t tid : {kChild, kChild + 1})
        scenario_.sample(kChild, tid, program_->after("conn_packets"), {{kRegDi, kTurnsConn}});
    return scenario_.time() + 1;
  };
  const uint64_t freed = useInChild(32);
  useInChild(128);
  heap::test::FileBuilder file;
  file.chunk(kMain, kMain).allocate(1, kTurnsConn, 80);
  file.chunk(kChild, kChild).record(HEAP_FORK, kMain, {forked});
  file.free(freed, kTurnsConn).allocate(freed, kTurnsConn, 64);
  analyzeWithHeap(file);
  std::map<std::string, const DataName*> names;
  for (const Line& line : report_.lines)
    for (const Access& access : line.accesses) names[line.space] = &access.data;
  EXPECT_EQ(names.at("pid 100")->allocation->size, 80u);
  const DataName& its = *names.at("pid 300");
  EXPECT_EQ(its.allocation->size, 64u);
  EXPECT_NE(its.because.find("20% of the samples fell into 1 other block"), std::string::npos) << its.because;
  EXPECT_EQ(its.because.find("the same call"), std::string::npos) << "one is one, however often looked up";
}

/// Two addresses of one mapped file.
TEST_F(TypedBlocks, OfASharedMappingAreOneObject) {
  constexpr uint64_t kPage = 0x1000, kFirst = 0x7000000, kAgain = 0x6000000;
  scenario_.shared(kMain, kFirst, 2 * kPage, 9, 0);
  scenario_.shared(kMain, kAgain, kPage, 9, kPage);
  use("raw_access", kFirst + kPage + 8, 10);
  use("raw_access", kAgain + 8, 3);
  heap::test::FileBuilder file;
  file.chunk(kMain, kMain).map(1, kFirst, 2 * kPage).map(2, kAgain, kPage);
  analyzeWithHeap(file);
  const DataName& word = dataAt(kAgain + 8, "raw_access");
  EXPECT_EQ(word.how, How::allocation);
  EXPECT_EQ(word.base, kAgain - kPage) << "by the address that is shown";
  ASSERT_EQ(report_.objects.size(), 1u);
  EXPECT_EQ(report_.objects[0].records, 26u);
  EXPECT_EQ(report_.objects[0].base, word.base);
}

TEST_F(TypedTurns, AreToldInEitherOrder) {
  useBeside("conn_packets", kTurnsConn, 40);
  useBeside("table_row", kHeap, 10);
  analyze();
  EXPECT_EQ(rawWord().field, "packets | table.rows[9]");
}

/// One of them is stale, or a part that the other one's code does not know.
TEST_F(TypedTurns, AreNotWhatWasSeenAtTheSameTime) {
  for (int i = 0; i < 20; ++i) {
    useBeside("conn_packets", kTurnsConn, 1);
    useBeside("table_row", kHeap, 1);
  }
  analyze();
  EXPECT_EQ(rawWord().field, "rows[9]");
}

TEST_F(TypedTurns, AreToldOfFewSamplesToo) {
  useBeside("table_row", kHeap, 2);
  use("table_row", kHeap, 10);
  use("conn_packets", kTurnsConn, 10);
  useBeside("conn_packets", kTurnsConn, 2);
  analyze();
  EXPECT_NE(rawWord().because.find("about 50% of the samples"), std::string::npos) << rawWord().because;
}

TEST_F(TypedTurns, AreOnlyThoseThatTheAccessSaw) {
  useBeside("table_row", kHeap, 40);
  use("note_text", kHeap + 32, 40);
  useBeside("conn_packets", kTurnsConn, 60);
  analyze();
  EXPECT_EQ(rawWord().field, "packets | table.rows[9]");
}

TEST_F(TypedTurns, OfThreeHaveTheirSharesInTheSums) {
  useBeside("table_row", kHeap, 30);
  useBeside("note_text", kHeap + 32, 60);
  useBeside("conn_packets", kTurnsConn, 110);
  analyze();
  EXPECT_EQ(rawWord().field, "packets | note.text[5] | table.rows[9]");
  const TypeHeat &conn = typeNamed("conn", false), &note = typeNamed("note", false),
                 &table = typeNamed("table", false);
  EXPECT_NEAR(static_cast<double>(conn.records), 440, 12);
  EXPECT_NEAR(static_cast<double>(note.records), 240, 12);
  EXPECT_NEAR(static_cast<double>(table.records), 120, 12);
  EXPECT_EQ(conn.records + note.records + table.records, 800u);
  EXPECT_EQ(conn.contended + note.contended + table.contended, report_.contended);
}

TEST_F(TypedTurns, AreNotInABlockOfTheObjectItself) {
  const uint64_t allocated = useBeside("table_row", kHeap, 20);
  useBeside("conn_packets", kTurnsConn, 60);
  analyzeWithTimedBlocks({{kTurnsConn, 64, callIn("make_conn"), 1}});
  EXPECT_EQ(rawWord().field, "packets") << "the block was there all the time";
  analyzeWithTimedBlocks({{kTurnsConn, 64, callIn("make_conn"), allocated}});
  EXPECT_EQ(rawWord().field, "packets | table.rows[9]") << "it came later";
  analyzeWithTimedBlocks({{kHeap, 0x1000, callIn("make_conn"), 1}});
  EXPECT_EQ(rawWord().field, "packets | table.rows[9]") << "an arena";
}

TEST_F(TypedTurns, TheLargestObjectNeedsNoVotesOfMany) {
  use("conn_packets", kTurnsConn, 20);
  use("sub_packets", kTurnsConn, 1);
  use("conn_packets", kTurnsConn, 20);
  analyze();
  EXPECT_EQ(packets().type, "sub");
  EXPECT_EQ(packets().field, "conn.packets");
}

/// Of no size, as C has them.
TEST_F(TypedTurns, AnObjectWithoutASizeHoldsNothing) {
  useBeside("empty_word", kPackets, 20);
  useBeside("box_word", kPackets, 20);
  analyze();
  EXPECT_EQ(rawWord().type, "box");
}

/// The place is cells[4].uses.
TEST_F(TypedTurns, AnOpenArrayReachesToThePlace) {
  constexpr uint64_t kUses = kHeap + 8 + 4 * 16 + 8;
  for (int i = 0; i < 20; ++i) {
    useBeside("pool_uses", kHeap, 1, kUses);
    useBeside("box_word", kUses - 8, 1, kUses);
  }
  analyze();
  EXPECT_EQ(rawWord(kUses).type, "pool") << "rather than what is smaller";
  EXPECT_EQ(rawWord(kUses).field, "cells[4].uses");
}

TEST_F(TypedTurns, AnElementOfAnOpenArrayIsAPartOfIt) {
  constexpr uint64_t kUses = kHeap + 8 + 4 * 16 + 8;
  useBeside("cell_uses", kUses - 8, 30, kUses);
  useBeside("pool_uses", kHeap, 30, kUses);
  analyze();
  EXPECT_EQ(rawWord(kUses).field, "cells[4].uses") << "at all times";
}

}  // namespace
}  // namespace cacheline::analysis
