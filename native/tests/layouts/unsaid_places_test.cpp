// Layouts of C++ that DWARF leaves to the reader: bases without a place, classes that are described
// elsewhere, packed bit-fields.
#include <gtest/gtest.h>

#include "layouts/layout.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using namespace types::test;

TEST(UnplacedBases, AreNoPadding) {
  TempDir dir;
  Program program(dir, "cpp", R"code(
struct Empty {};
struct S { Empty e; };
struct W { virtual ~W() {} long big[16]; };
struct X : virtual S, virtual W { int x; int bit : 3; };
struct Tail { Tail() {} alignas(32) long a; char b; };
struct A { virtual ~A() {} long q[3]; };
struct B { virtual ~B() {} alignas(32) long r; };
struct InTail : virtual A, virtual B { [[no_unique_address]] Tail t; };
InTail inTail;
struct Holder { long first; X x; long last; };
Holder holder;
)code");
  const auto layout = [&](const char* name, bool expand) {
    return layoutOf(program.table(), program.types().named(name).at(0), {64, expand});
  };
  const Layout own = layout("X", false);
  ASSERT_EQ(own.unplaced.size(), 1u);
  EXPECT_EQ(own.unplaced[0].offset, 13u);
  EXPECT_EQ(own.unplaced[0].size, own.size - 13);
  EXPECT_EQ(own.unplaced[0].bases, (std::vector<std::string>{"S", "W"}));
  EXPECT_EQ(own.padding, 0u);
  ASSERT_EQ(own.holes.size(), 1u);
  EXPECT_EQ(own.holes[0].bits, 5u) << "of the last byte: those behind it may be of a base";
  EXPECT_NE(layoutJson(own).find(R"("unplaced":[{"offset":13,"size":139,"bases":["S","W"]}])"),
            std::string::npos)
      << layoutJson(own);
  const Layout outer = layout("Holder", true);
  ASSERT_EQ(outer.unplaced.size(), 1u);
  EXPECT_EQ(outer.unplaced[0].offset, 8u + 13u);
  EXPECT_EQ(outer.holes.size(), 1u);
  const Layout inTail = layout("InTail", false);
  ASSERT_EQ(inTail.unplaced.size(), 1u);
  EXPECT_EQ(inTail.unplaced[0].offset, 32u + 9u) << "A lies at 48, in the tail padding of t";
  EXPECT_EQ(inTail.padding, 0u);
  EXPECT_EQ(layout("InTail", true).holes.size(), 1u) << "the one before t, none inside of it";
  EXPECT_EQ(layout("W", false).unplaced.size(), 0u);
}

TEST(Incomplete, MembersTakeTheRoomUpToTheNext) {
  TempDir dir;
  Program program(dir, "cpp", R"code(
struct Elsewhere { Elsewhere(); long a[5]; };
struct Holder { char c; Elsewhere one; long last; Elsewhere two[2]; };
Holder* holder() { static Holder it; return &it; }
)code",
                  "", "clang++");
  const Layout layout = layoutOf(program.table(), program.types().named("Holder").at(0), {});
  ASSERT_EQ(layout.members.size(), 4u);
  EXPECT_TRUE(layout.members[1].incomplete) << "clang leaves the class to the unit that has its constructor";
  EXPECT_EQ(layout.members[1].size, 40u);
  EXPECT_EQ(layout.members[3].size, 80u);
  EXPECT_FALSE(layout.members[2].incomplete);
  ASSERT_EQ(layout.holes.size(), 1u);
  EXPECT_EQ(layout.holes[0].size, 7u);
  EXPECT_EQ(layout.padding, 0u);
  EXPECT_NE(layoutJson(layout).find(R"("incomplete":true)"), std::string::npos);
}

TEST(PackedBitFields, BeginWhereTheOneBeforeEnds) {
  const char* const source = R"code(
struct __attribute__((packed)) Packed { unsigned char a : 4; unsigned short b : 16; unsigned char c : 4, d : 3; long e : 64; };
Packed packed;
)code";
  for (const char* compiler : {"g++", "clang++"}) {
    if (!haveTool(compiler)) continue;
    TempDir dir;
    Program program(dir, "cpp", source, "", compiler);
    EXPECT_EQ(membersText(program.typeOf("packed")), "a@0.0:4 b@0.4:16 c@2.4:4 d@3.0:3 e@0.27:64")
        << compiler;
  }
}

}  // namespace
}  // namespace cacheline::layouts
