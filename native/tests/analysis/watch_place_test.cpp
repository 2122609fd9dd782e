// Which bytes an expression of --watch names, in programs whose classes are defined and in others.
#include "analysis/watch_place.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "symbols/module.h"
#include "typed_program.h"

namespace cacheline::analysis {
namespace {

using test::Program;

constexpr const char* kWatchedSource = R"(
#line 1 "elsewhere.h"
struct inner { long a, b; };
#line 1 "typed.c"
struct outer { long first; struct inner in; long last; long open[]; };
struct none {}; struct around { long a; struct none n; long b; } around;
struct inner list[2] = {{1, 2}}; struct outer whole = {1, {2, 3}, 4, {5, 6}}; struct outer closed = {1};
struct inner *far; struct { long count; struct inner *far, **more; void *any; } cache;
void _start(void) {}
)";

/// gcc then only declares what another file than the program's own defines.
const Program& onlyDeclaring() {
  static const Program program("-g -femit-struct-debug-baseonly", kWatchedSource);
  return program;
}
const Program& defining() {
  static const Program program("-g", kWatchedSource);
  return program;
}

/// "16-24 list[1].a", relative to the variable.
std::vector<std::string> piecesIn(const Program& program, const std::string& text,
                                  const std::string& variable) {
  const auto place = placeOf(*symbols::Module::open(program.path(), ""), parseWatch(text));
  std::vector<std::string> said;
  for (const WatchPiece& piece : place.value().pieces) {
    const uint64_t from = piece.address - (place->pointer ? 0 : program.address(variable));
    said.push_back(std::to_string(from) + "-" + std::to_string(from + piece.length) + " " + piece.name);
  }
  return said;
}
std::string refusalOf(const Program& program, const std::string& text) {
  try {
    piecesIn(program, text, "list");
  } catch (const Error& error) {
    return error.what();
  }
  return "it was not refused";
}
using Said = std::vector<std::string>;

TEST(WatchPlace, MembersAndElementsAreTheirBytes) {
  EXPECT_EQ(piecesIn(defining(), "list[1]", "list"), (Said{"16-24 list[1].a", "24-32 list[1].b"}));
  EXPECT_EQ(piecesIn(defining(), "whole.in.b", "whole"), (Said{"16-24 whole.in.b"}));
  EXPECT_EQ(refusalOf(defining(), "list[0].c"), "--watch list[0].c: inner has no member 'c'");
}

TEST(WatchPlace, AnIndexFollowsAPointer) {
  const auto pointerOf = [](const std::string& text) {
    return placeOf(*symbols::Module::open(defining().path(), ""), parseWatch(text)).value().pointer;
  };
  EXPECT_EQ(piecesIn(defining(), "far[3].b", "far"), (Said{"56-64 far[3].b"}));
  EXPECT_EQ(piecesIn(defining(), "far[1]", "far"), (Said{"16-24 far[1].a", "24-32 far[1].b"}));
  EXPECT_EQ(pointerOf("far[3].b"), defining().address("far"));
  EXPECT_EQ(piecesIn(defining(), "cache.far[1].a", "cache"), (Said{"16-24 cache.far[1].a"}));
  EXPECT_EQ(pointerOf("cache.far[1].a"), defining().address("cache") + 8);
  EXPECT_FALSE(pointerOf("far"));
  EXPECT_NE(refusalOf(defining(), "far.b").find("an expression follows one pointer at most"),
            std::string::npos);
  EXPECT_NE(refusalOf(defining(), "cache.more[1][2]").find("an expression follows one pointer at most"),
            std::string::npos);
  EXPECT_NE(refusalOf(defining(), "cache.any[1]").find("does not say what the pointer leads to"),
            std::string::npos);
}

TEST(WatchPlace, AnIndexCountsTheElementsOfAStandardContainer) {
  const Program program("-g", R"(
namespace std { template <class T> struct vector { struct impl { T *_M_start, *_M_finish; } _M_impl; }; template <class T> struct list { long size; T* first; }; }
struct slot { long hits, misses; };
struct cached { long count; std::vector<slot> slots; std::list<slot> listed; } cache;
extern "C" void _start() {}
)",
                        true);
  EXPECT_EQ(piecesIn(program, "cache.slots[3].misses", "cache"), (Said{"56-64 cache.slots[3].misses"}));
  EXPECT_NE(refusalOf(program, "cache.listed[3]").find("it is unknown where [3] lies"), std::string::npos);
}

TEST(WatchPlace, WhereAnElementOfAnUndefinedClassLiesIsNotGuessed) {
  for (const char* text : {"list[0]", "list[1]"})
    EXPECT_EQ(refusalOf(onlyDeclaring(), text),
              std::string("--watch ") + text +
                  ": the debug information does not define inner, so it is unknown where " + (text + 4) +
                  " lies");
  EXPECT_EQ(
      refusalOf(onlyDeclaring(), "whole.in.b"),
      "--watch whole.in.b: inner has no member 'b' that is known: the debug information does not define "
      "inner");
}

TEST(WatchPlace, ABaseWithoutADefinitionMayHaveTheMember) {
  const Program program("-g -Wl,--unresolved-symbols=ignore-all", R"(
struct Base { long value; virtual void key(); };
struct Middle : Base { long more; };
struct Derived : Middle { long own; } derived;
extern "C" void _start() {}
)",
                        true);
  EXPECT_EQ(piecesIn(program, "derived.own", "derived"), (Said{"24-32 derived.own"}));
  EXPECT_EQ(refusalOf(program, "derived.value"),
            "--watch derived.value: Derived has no member 'value' that is known: the debug information does "
            "not define Base");
}

TEST(WatchPlace, AMemberOfAnUndefinedClassIsTheRoomThatItHas) {
  EXPECT_EQ(piecesIn(onlyDeclaring(), "whole.in", "whole"), (Said{"8-16 whole.in+0", "16-24 whole.in+8"}));
  EXPECT_EQ(piecesIn(onlyDeclaring(), "list", "list").size(), 4u);
}

TEST(WatchPlace, AStructureWithoutMembersIsNotWhatLiesBehindIt) {
  EXPECT_EQ(refusalOf(defining(), "around.n"), "--watch around.n: the variable ends before that place");
  EXPECT_EQ(piecesIn(defining(), "around.b", "around").size(), 1u);
}

TEST(WatchPlace, AFlexibleArrayIsWhatIsLeftOfTheVariable) {
  EXPECT_EQ(piecesIn(defining(), "whole.open", "whole").size(), 2u);
  EXPECT_EQ(refusalOf(defining(), "closed.open"), "--watch closed.open: the variable ends before that place");
}

}  // namespace
}  // namespace cacheline::analysis
