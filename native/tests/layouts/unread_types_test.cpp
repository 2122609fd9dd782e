// Members whose types the debug information does not have: their places are known, and nothing is called void
// or a hole that is a member.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "layouts/layout.h"
#include "layouts/queries.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using namespace types::test;
using symbols::test::mustRun;
using symbols::test::writeFile;

const LayoutMember& memberOf(const Layout& layout, const std::string& name) {
  for (const LayoutMember& member : layout.members)
    if (member.name == name) return member;
  throw std::runtime_error(layout.name + " has no member " + name);
}

Layout layoutIn(Program& program, const std::string& name) {
  const std::vector<TypeId> found = program.types().named(name);
  if (found.size() != 1) throw std::runtime_error(std::to_string(found.size()) + " types are " + name);
  return layoutOf(program.table(), found.front(), {});
}

constexpr const char* kUnits = R"code(
struct Inner { char c; int i; };
template <class T> struct Box { T value; long more; };
enum class State : short { idle, busy };
struct Outer {
  Inner inner;
  const Box<int> box = {};
  State state : 3;
  State next : 9;
  Inner many[2][3];
  Inner* one;
  char end;
};
Outer outer;
Outer* use() { return &outer; }
)code";

/// gcc writes a short name of the .dwo file in a way that keeps its sections from being read as one, so that
/// elfutils reads the first type unit alone. Without -gsplit-dwarf all are read.
class UnreadUnits : public testing::TestWithParam<const char*> {
 protected:
  std::string build(const std::string& name, const std::string& flags) {
    writeFile(dir_.file("a.cpp"), kUnits);
    mustRun("cd " + dir_.path() + " && g++ -shared -fPIC -fno-merge-debug-strings -fdebug-types-section " +
            GetParam() + " " + flags + " a.cpp -o " + name);
    return dir_.file(name);
  }
  TempDir dir_;
};

TEST_P(UnreadUnits, LeaveMembersWithoutATypeAndNotVoid) {
  Program whole(build("w.so", ""));
  Program split(build("s.so", "-gsplit-dwarf"));
  const Layout full = layoutIn(whole, "Outer"), partial = layoutIn(split, "Outer");
  ASSERT_EQ(partial.members.size(), full.members.size());
  for (size_t i = 0; i < full.members.size(); i++) {
    const LayoutMember &is = partial.members[i], &should = full.members[i];
    EXPECT_EQ(is.name, should.name);
    EXPECT_EQ(is.offset * 8 + is.bitOffset, should.offset * 8 + should.bitOffset) << is.name;
    EXPECT_EQ(is.bitSize, should.bitSize) << is.name;
    EXPECT_GE(is.size, should.bitSize != 0 ? 1 : should.size) << is.name;
    EXPECT_EQ(is.type.find("void"), std::string::npos) << is.name << " is " << is.type;
  }
  EXPECT_TRUE(memberOf(partial, "inner").incomplete);
  EXPECT_EQ(memberOf(partial, "inner").type, "(unknown type)");
  EXPECT_EQ(memberOf(partial, "box").type, "const (unknown type)");
  EXPECT_EQ(memberOf(partial, "many").type, "(unknown type)[2][3]");
  EXPECT_EQ(memberOf(partial, "one").type, "(unknown type) *");
  EXPECT_FALSE(memberOf(partial, "one").incomplete);
  EXPECT_EQ(partial.size, full.size);
  for (const Hole& hole : partial.holes)
    EXPECT_TRUE(std::any_of(full.holes.begin(), full.holes.end(),
                            [&](const Hole& real) {
                              return hole.offset >= real.offset &&
                                     hole.offset + hole.size <=
                                         real.offset + std::max<uint64_t>(real.size, 1);
                            }))
        << "byte " << hole.offset << " is a member's";
  EXPECT_EQ(split.fields("outer", memberOf(full, "many").offset + 8, 4), "many (unknown type)[2][3]");
}

TEST_P(UnreadUnits, AreSaidInTheLayout) {
  const std::string text = layoutsJson(build("s.so", "-gsplit-dwarf"), "Outer", {});
  EXPECT_NE(text.find(R"("missing":{"message":"The debug information of )"), std::string::npos) << text;
  EXPECT_NE(text.find("which could not be read"), std::string::npos) << text;
  EXPECT_EQ(layoutsJson(build("w.so", ""), "Outer", {}).find(R"("missing":{)"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Dwarf, UnreadUnits, testing::Values("-gdwarf-4"));

TEST(UnreadTypes, OfBasesLeaveTheVirtualOnesWithoutAPlace) {
  // The unit that defines the first virtual function has the class.
  constexpr const char* kBases = R"code(
struct Poly { virtual void key(); long p; };
struct Virtual { long v; };
struct Derived : Poly, virtual Virtual { int d; };
struct Last : Derived { int l; };
Last last;
)code";
  TempDir dir;
  writeFile(dir.file("a.cpp"), kBases);
  mustRun("cd " + dir.path() + " && g++ -g -c a.cpp && g++ -g -femit-class-debug-always -c a.cpp -o all.o");
  Program partial(dir.file("a.o")), full(dir.file("all.o"));
  for (const char* name : {"Derived", "Last"}) {
    EXPECT_EQ(layoutIn(full, name).unplaced.size(), 1u) << name;
    const Layout layout = layoutIn(partial, name);
    ASSERT_EQ(layout.unplaced.size(), 1u) << name;
    EXPECT_EQ(layout.unplaced[0].bases, std::vector<std::string>{"Virtual"}) << name;
    EXPECT_EQ(layout.padding, 0u) << name;
  }
}

/// gcc then only declares what another file than the unit's own defines: `header`.
Program declaring(const TempDir& dir, const std::string& header, const std::string& source) {
  writeFile(dir.file("header.h"), header);
  writeFile(dir.file("a.cpp"), "#include \"header.h\"\n" + source);
  mustRun("cd " + dir.path() + " && g++ -std=c++20 -g -femit-struct-debug-baseonly -c a.cpp");
  return Program(dir.file("a.o"));
}

TEST(UnreadTypes, HaveTheRoomUpToTheNextMember) {
  TempDir dir;
  Program program =
      declaring(dir, "struct Byte { char c; }; struct Empty {}; struct Pair { int a, b; };\n",
                "struct Bits { char c; Byte u; int b : 4; char d; } bits;\n"
                "struct __attribute__((packed)) Packed { char c; Pair u; int b : 5; int e : 7; } packed;\n"
                "struct Derived : Empty { int a, b; } derived;\n"
                "struct Address { [[no_unique_address]] Empty e; int a; } address;\n"
                "struct Flexible { long n; int k; Byte f[]; } flexible;\n"
                "struct None { int n; Pair z[0]; char data[16]; } none;\n"
                "union Either { Pair p; long l[3]; } either;\n");
  EXPECT_EQ(membersText(program.typeOf("bits")), "c@0:1 u@1:1 b@0.16:4 d@3:1");
  EXPECT_EQ(membersText(program.typeOf("packed")), "c@0:1 u@1:8 b@8.8:5 e@8.13:7");
  EXPECT_EQ(membersText(program.typeOf("derived")), "@0:0 a@0:4 b@4:4");
  EXPECT_EQ(membersText(program.typeOf("address")), "e@0:0 a@0:4");
  EXPECT_EQ(membersText(program.typeOf("flexible")), "n@0:8 k@8:4 f@12:0");
  EXPECT_EQ(membersText(program.typeOf("none")), "n@0:4 z@4:0 data@4:16");
  EXPECT_EQ(membersText(program.typeOf("either")), "p@0:24 l@0:24");
}

TEST(UnreadTypes, MayHaveVirtualBasesWhereTheyAreBases) {
  TempDir dir;
  Program program = declaring(dir, "struct Virtual { long x; }; struct Poly : virtual Virtual { int p; };\n",
                              "struct Log : Poly { int level; } log;\n");
  const Layout layout = layoutIn(program, "Log");
  EXPECT_EQ(layout.padding, 0u);
  ASSERT_EQ(layout.unplaced.size(), 1u);
  EXPECT_EQ(layout.unplaced[0].bases, std::vector<std::string>{"(unknown type)"});
}

TEST(UnreadTypes, LeaveTheAlignmentOpen) {
  TempDir dir;
  Program program =
      declaring(dir, "struct Word { long l; };\n",
                "struct Inner { Word w; };\nstruct Nest { Inner a; char c[8]; } nest;\n"
                "struct Gap { Inner a; char c; } gap;\n"
                "struct Known { int i; Word* p; int f[]; } known; struct Base : Word { char c; } base;\n");
  for (const char* name : {"Nest", "Base", "Gap"}) EXPECT_FALSE(layoutIn(program, name).align) << name;
  EXPECT_EQ(layoutIn(program, "Known").align, 8u);
  EXPECT_NE(layoutsJson(dir.file("a.o"), "Nest", {}).find(R"("align":null)"), std::string::npos);
}

TEST(UnreadTypes, BitFieldsWiderThanTheirTypeHaveTheirPlace) {
  TempDir dir;
  Program program(dir, "cpp", "struct Wide { long q; char c : 9; int e : 3; } wide;\n", "-glldb -gdwarf-5",
                  "clang++");
  EXPECT_EQ(membersText(program.typeOf("wide")).substr(0, 11), "q@0:8 c@8.0");
}

TEST(UnreadTypes, DeclaredEnumerationsHaveTheSizeThatTheirSourceStates) {
  constexpr const char* kEnumerations = R"code(
enum class Fwd : short;
struct Plain { char c; Fwd f; char d; Fwd a[3]; long z; };
struct Bits { Fwd f : 9; Fwd g : 7; char x; };
Plain plain;
Bits bits;
)code";
  for (const char* compiler : {"g++", "clang++"}) {
    TempDir dir;
    Program program(dir, "cpp", kEnumerations, "", compiler);
    EXPECT_EQ(membersText(program.typeOf("plain")), "c@0:1 f@2:2 d@4:1 a@6:6 z@16:8") << compiler;
    EXPECT_EQ(membersText(program.typeOf("bits")), "f@0.0:9 g@0.9:7 x@2:1") << compiler;
    EXPECT_EQ(layoutIn(program, "Bits").align, 2u) << compiler;
  }
}

TEST(UnreadTypes, EmptyArraysOf32BitProgramsHaveNoElements) {
  for (const std::string compiler : {"gcc", "g++", "clang"}) {
    TempDir dir;
    const std::string file = compiler == "g++" ? "a.cpp" : "a.c";
    writeFile(dir.file(file), "struct Head { char c; int x; char h[0]; } head;\n");
    mustRun("cd " + dir.path() + " && " + compiler + " -m32 -nostdlib -shared -fPIC -g " + file + " -o a.so");
    Program program(dir.file("a.so"));
    EXPECT_EQ(membersText(program.typeOf("head")), "c@0:1 x@4:4 h@8:0") << compiler;
  }
}

TEST(UnreadTypes, AtomicStructuresAreAsWideAsClangMakesThem) {
  TempDir dir;
  Program program(dir, "c",
                  "struct Three { char x[3]; };\n"
                  "struct Holder { char a[5]; _Atomic(struct Three) s; char b; } holder;\n"
                  "_Static_assert(__builtin_offsetof(struct Holder, s) == 8, \"\");\n"
                  "_Static_assert(sizeof(holder.s) == 4, \"\");\n",
                  "", "clang");
  EXPECT_EQ(membersText(program.typeOf("holder")), "a@0:5 s@8:4 b@12:1");
}

}  // namespace
}  // namespace cacheline::layouts
