// What lies around a member, by all structures of a binary.
#include "layouts/enclosing_types.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "types_fixture.h"

namespace cacheline::layouts::test {
namespace {

using namespace types;
using namespace types::test;

class Holders : public testing::Test {
 protected:
  static constexpr uint32_t kWord = 8;

  void make(const std::string& source, const std::string& extension = "c", const std::string& flags = "") {
    program_.emplace(dir_, extension, source, flags);
  }
  TypeId type(const std::string& name) {
    const std::vector<TypeId> found = program_->types().named(name);
    EXPECT_EQ(found.size(), 1u) << name;
    return found.empty() ? kNoType : found.front();
  }
  const Surroundings& around(const std::string& part, int64_t away, uint32_t width = kWord) {
    return program_->types().around(type(part), away, width);
  }
  /// "item@8 task@0": the holders, and where the part begins in each.
  std::string enclosingTypes(const std::string& part, int64_t away, uint32_t width = kWord) {
    std::string text;
    for (const Enclosing& holder : around(part, away, width).members)
      text += (text.empty() ? "" : " ") + program_->table().nameOf(holder.type) + '@' +
              std::to_string(holder.offset);
    return text;
  }

  symbols::test::TempDir dir_;
  std::optional<Program> program_;
};

const std::string kList = "struct list { struct list *next, *previous; };\n";

TEST_F(Holders, AreTheInnermostTypesWithAMemberThere) {
  make(kList + R"(
struct item { long id; struct list node; int low, high; };
struct batch { struct item first; long last; } batch;
struct outer { long id; struct { struct list node; long hits[3]; } inner; } outer;
)");
  EXPECT_EQ(enclosingTypes("list", -8), "item@8 outer@8");
  EXPECT_EQ(enclosingTypes("list", 24), "batch@8 outer@8") << "one of them behind the item";
  EXPECT_EQ(enclosingTypes("list", 16), "outer@8");
  EXPECT_TRUE(around("list", 16).others) << "two integers";
  EXPECT_EQ(enclosingTypes("list", 16, 4), "item@8");
  EXPECT_EQ(enclosingTypes("list", 4000), "");
  EXPECT_FALSE(around("list", 4000).others);
  EXPECT_TRUE(around("list", 4000).all);
}

TEST_F(Holders, AreCountedOnceForEachPlaceOfThePart) {
  make(kList + R"(
struct either { union { struct list here; struct list there; }; long hits; } either;
struct twice { struct list first; long one; struct list second; long two; } twice;
)");
  EXPECT_EQ(enclosingTypes("list", 16), "either@0 twice@0 twice@24");
}

TEST_F(Holders, OfAPartAreNotItsNeighboursButOfALinkThey) {
  make(kList + R"(
struct pair { long a, b; };
struct sums { struct pair in, out; long total; } sums;
struct ends { struct list from, to; } ends;
)");
  EXPECT_EQ(enclosingTypes("pair", 16), "sums@16") << "the total, not the second pair";
  EXPECT_EQ(enclosingTypes("list", 16), "ends@0");
}

TEST_F(Holders, EndBehindAnOpenArrayAndNotAtAHole) {
  make(kList + R"(
struct open { struct list node; long tail[]; } open_one;
struct gap { struct list node; int a; } gap;
union view { struct gap gap; int words[8]; } view;
)");
  EXPECT_EQ(enclosingTypes("list", 800), "open@0");
  EXPECT_EQ(enclosingTypes("list", 20, 4), "");
}

TEST_F(Holders, KnowNoElementOfAnArrayOfSeveral) {
  make(kList + R"(
struct table { long rounds; struct list buckets[4]; } table;
struct rows { long rounds; struct list rows[2][3]; } rows;
struct pool { long used; struct list nodes[]; } pool;
struct one { long used; struct list node[1]; } one;
)");
  EXPECT_EQ(enclosingTypes("list", -8), "one@8 pool@8");
  EXPECT_EQ(around("list", -8).elements, 6u);
}

TEST_F(Holders, AreNotTheClassesOfAVirtualBase) {
  make(R"(
struct Base { long a, b; };
struct Plain : Base { long plain; } plain;
struct Shared : virtual Base { long own; } shared;
)",
       "cpp");
  EXPECT_EQ(enclosingTypes("Base", 16), "Plain@0");
  EXPECT_EQ(enclosingTypes("Base", -8), "") << "where the base is differs from object to object";
}

TEST_F(Holders, MayBeSmall) {
  make("struct byte { char b; }; struct two { struct byte first; char second; } two;");
  EXPECT_EQ(enclosingTypes("byte", 1, 1), "two@0");
}

TEST_F(Holders, SayWhereTheyDidNotLookAtAll) {
  std::string deep = "struct l0 { struct list node; };\n";
  for (int i = 1; i <= 20; ++i)
    deep += "struct l" + std::to_string(i) + " { struct l" + std::to_string(i - 1) + " in; };\n";
  make(kList + deep + "struct top { struct l20 in; long behind; } top;");
  EXPECT_EQ(enclosingTypes("list", 16), "");
  EXPECT_FALSE(around("list", 16).all) << "types in types";

  std::string unnamed = "struct top { struct list node;", end;
  for (int i = 0; i < 20; ++i) {
    unnamed += "struct { ";
    end += "};";
  }
  make(kList + unnamed + "long inner;" + end + " } top;");
  EXPECT_FALSE(around("list", 16).all) << "without names";

  std::string many = "struct list node;";
  for (int i = 0; i < 7; ++i) many = "struct { " + many + " } a, b, c, d, e, f, g, h;";
  make(kList + "struct pair { long a, b; }; struct sum { struct pair in; long all; } sum; struct top { " +
       many + " } top;");
  EXPECT_FALSE(around("pair", 16).all) << "members of members";

  std::string structures;
  for (int i = 0; i < 20'001; ++i) {
    const std::string number = std::to_string(i);
    structures += "struct s" + number + " { long a; } v" + number + ";\n";
  }
  make(kList + "struct list list;" + structures);
  EXPECT_FALSE(around("list", 16).all) << "structures";

  std::string holding;
  for (int i = 0; i < 17'000; ++i) {
    const std::string number = std::to_string(i);
    holding += "struct s" + number + " { struct list node; } v" + number + ";\n";
  }
  make(kList + holding);
  EXPECT_FALSE(around("list", 16).all) << "holders";
}

TEST_F(Holders, ALinkIsMoreThanHalfPointersToItsOwnKind) {
  make(kList + R"(
struct list list;
struct chained { struct chained *next, **previous; } chained;
struct tree { long key; struct tree *left, *right; } tree;
struct item { struct item *next; long a; } item;
struct wide { struct wide *all[9]; } wide;
)");
  const auto isLinkNamed = [&](const char* name) { return isLink(program_->table(), type(name)); };
  EXPECT_TRUE(isLinkNamed("list"));
  EXPECT_TRUE(isLinkNamed("chained"));
  EXPECT_TRUE(isLinkNamed("tree"));
  EXPECT_FALSE(isLinkNamed("item"));
  EXPECT_FALSE(isLinkNamed("wide"));
}

}  // namespace
}  // namespace cacheline::layouts::test
