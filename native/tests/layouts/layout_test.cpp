// What a layout says of arrays of structures, of limits, of niches: as JSON, from small compiled programs.
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "layouts/queries.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using namespace types::test;
using symbols::test::mustRun;
using symbols::test::writeFile;

rapidjson::Document layoutDocument(const std::string& binary, const std::string& type, bool expand) {
  rapidjson::Document document;
  const std::string json = layoutsJson(binary, type, {64, expand});
  document.Parse(json.c_str(), json.size());
  rapidjson::Document layouts;
  layouts.CopyFrom(document["layouts"], layouts.GetAllocator());
  EXPECT_TRUE(layouts.IsArray() && layouts.Size() == 1) << json;
  return layouts;
}

/// "depth name type@offset:size; ..." of the rows.
std::string rowsText(const rapidjson::Document& document) {
  std::string text;
  for (const auto& row : document[0]["members"].GetArray()) {
    if (!text.empty()) text += "; ";
    text += std::to_string(row["depth"].GetUint()) + " " + row["name"].GetString() + " " +
            row["type"].GetString() + "@" + std::to_string(row["offset"].GetUint64()) + ":" +
            std::to_string(row["size"].GetUint64());
    if (row.HasMember("elements")) text += " x" + std::to_string(row["elements"].GetUint64());
  }
  return text;
}

/// "offset:size.bits xelements, ..." of the holes.
std::string holesText(const rapidjson::Document& document) {
  std::string text;
  for (const auto& hole : document[0]["holes"].GetArray()) {
    if (!text.empty()) text += ", ";
    text += std::to_string(hole["offset"].GetUint64()) + ":" + std::to_string(hole["size"].GetUint64());
    if (hole["bits"].GetUint() != 0) text += "." + std::to_string(hole["bits"].GetUint());
    if (hole.HasMember("elements")) text += " x" + std::to_string(hole["elements"].GetUint64());
  }
  return text;
}

class Layouts : public testing::Test {
 protected:
  std::string compile(const std::string& name, const std::string& source, const std::string& compiler) {
    writeFile(dir_.file(name), source);
    mustRun("cd " + dir_.path() + " && " + compiler + " -fPIC -shared -o " + name + ".so " + name + " 2>&1");
    return dir_.file(name + ".so");
  }
  TempDir dir_;
};

/// The words before and behind the first star, each sorted: compilers write qualifiers in orders of their
/// own.
std::string sortedType(const std::string& type) {
  const size_t star = std::min(type.find('*'), type.size());
  std::string text;
  for (const std::string& part : {type.substr(0, star), type.substr(std::min(star + 1, type.size()))}) {
    std::istringstream words(part);
    std::set<std::string> sorted;
    for (std::string word; words >> word;) sorted.insert(word);
    for (const std::string& word : sorted) text += word + " ";
    text += "* ";
  }
  return text;
}

TEST_F(Layouts, QualifiersOfPointersStandBehindTheirStar) {
  const std::vector<std::string> written = {"int *const restrict", "int *volatile restrict",
                                            "const volatile char *const restrict", "int *const *volatile",
                                            "const int *"};
  std::string source = "struct Q {\n";
  for (size_t i = 0; i < written.size(); i++) source += written[i] + " m" + std::to_string(i) + ";\n";
  for (const char* compiler : {"gcc -g", "clang -g", "gcc -gdwarf-4"}) {
    const auto layout = layoutDocument(compile("q.c", source + "} q;\n", compiler), "Q", false);
    for (size_t i = 0; i < written.size(); i++)
      EXPECT_EQ(sortedType(layout[0]["members"][static_cast<unsigned>(i)]["type"].GetString()),
                sortedType(written[i]))
          << compiler;
  }
}

TEST_F(Layouts, QualifiersOfPointersToMembersStandBehindTheirStar) {
  const std::string binary =
      compile("q.cpp", "struct A { int x; };\nstruct Q { int A::*const m; } q{0};\n", "g++ -g");
  EXPECT_EQ(rowsText(layoutDocument(binary, "Q", false)), "0 m int A::*const@0:8");
}

constexpr const char* kElementArrays = R"code(
struct Pair { char flag; double value; };
struct Table {
  int mask;
  struct { double lookups; int inserts; } stats[8];
  struct Pair pairs[2][3];
  struct { struct Pair deep[2]; char tag; } nest[4];
  struct Pair open[];
};
struct Table *table;
)code";

TEST_F(Layouts, ExpandedShowTheMembersOfAnElement) {
  for (const char* compiler : {"gcc -g", "clang -g", "gcc -gdwarf-4 -fdebug-types-section"}) {
    const auto layout = layoutDocument(compile("t.c", kElementArrays, compiler), "Table", true);
    EXPECT_EQ(rowsText(layout),
              "0 mask int@0:4; 0 stats struct {...}[8]@8:128; 1 stats[0..7].lookups double@8:8 x8; "
              "1 stats[0..7].inserts int@16:4 x8; 0 pairs Pair[2][3]@136:96; "
              "1 pairs[0..1][0..2].flag char@136:1 x6; 1 pairs[0..1][0..2].value double@144:8 x6; "
              "0 nest struct {...}[4]@232:160; 1 nest[0..3].deep Pair[2]@232:32 x4; "
              "2 nest[0..3].deep[0..1].flag char@232:1 x8; 2 nest[0..3].deep[0..1].value double@240:8 x8; "
              "1 nest[0..3].tag char@264:1 x4; 0 open Pair[]@392:0; 1 open[0..].flag char@392:1 x0; "
              "1 open[0..].value double@400:8 x0")
        << compiler;
    EXPECT_EQ(holesText(layout), "4:4, 20:4 x8, 137:7 x6, 233:7 x8, 265:7 x4") << compiler;
    EXPECT_EQ(layout[0]["padding"].GetUint64(), 0u);
  }
}

TEST_F(Layouts, WithoutExpandingShowWhatHasNoNameToAskFor) {
  const std::string binary = compile("u.c", R"code(
struct Multi {
  char kind;
  struct { int a; } in[2][3];
  union { double whole; struct { float low; } half; };
  struct { char named; } one;
  struct Pair { int x; } pair;
} multi;
)code",
                                     "gcc -g");
  const auto layout = layoutDocument(binary, "Multi", false);
  EXPECT_EQ(rowsText(layout),
            "0 kind char@0:1; 0 in struct {...}[2][3]@4:24; 1 in[0..1][0..2].a int@4:4 x6; "
            "0  union {...}@32:8; 1 whole double@32:8; 1 half struct {...}@32:4; 2 half.low float@32:4; "
            "0 one struct {...}@40:1; 1 one.named char@40:1; 0 pair Pair@44:4");
  EXPECT_EQ(holesText(layout), "1:3, 28:4, 41:3");
}

TEST_F(Layouts, OfArraysInStandardWrappersShowTheElement) {
  const std::string binary = compile("w.cpp", R"code(
#include <array>
#include <atomic>
struct Stat { std::atomic<double> hits; char tag; };
struct Board { std::array<Stat, 4> stats; std::atomic<int> plain[2]; } board;
)code",
                                     "g++ -g");
  EXPECT_EQ(rowsText(layoutDocument(binary, "Board", true)),
            "0 stats std::array<Stat, 4>@0:64; 1 stats[0..3].hits std::atomic<double>@0:8 x4; "
            "1 stats[0..3].tag char@8:1 x4; 0 plain std::atomic<int>[2]@64:8");
}

TEST_F(Layouts, SayWhatALimitLeavesOut) {
  std::string source = "struct L0 { char a; int b; };\n";
  for (int i = 1; i <= 17; i++) {
    const std::string inner = "struct L" + std::to_string(i - 1);
    source += "struct L" + std::to_string(i) + " { " + inner + " x; " + inner + " y; };\n";
  }
  source += "struct L17 wide;\nstruct N0 { int a; };\n";
  for (int i = 1; i <= 44; i++)
    source += "struct N" + std::to_string(i) + " { struct N" + std::to_string(i - 1) + " x; };\n";
  source += "struct N44 deep;\n";
  const std::string binary = compile("l.c", source, "gcc -g");
  const auto wide = layoutDocument(binary, "L17", true);
  ASSERT_TRUE(wide[0].HasMember("cutOff"));
  EXPECT_EQ(wide[0]["cutOff"]["members"].GetUint64(), wide[0]["members"].Size());
  EXPECT_FALSE(wide[0]["cutOff"].HasMember("depth"));
  const auto deep = layoutDocument(binary, "N44", true);
  ASSERT_TRUE(deep[0].HasMember("cutOff"));
  EXPECT_EQ(deep[0]["cutOff"]["depth"].GetUint64(), 32u);
  EXPECT_FALSE(layoutDocument(binary, "L5", true)[0].HasMember("cutOff"));
  EXPECT_FALSE(layoutDocument(binary, "N31", true)[0].HasMember("cutOff"));
  EXPECT_FALSE(layoutDocument(binary, "N44", false)[0].HasMember("cutOff"));
}

TEST_F(Layouts, OfRustEnumsNameNichesAndStates) {
  NEED_TOOL("rustc", "rustc");
  writeFile(dir_.file("r.rs"), R"code(
use std::future::Future;
pub struct Holder { pub maybe: Option<&'static u8>, pub tagged: Option<u64> }
#[no_mangle] pub static HOLDER: Holder = Holder { maybe: None, tagged: Some(3) };
async fn step(n: u64) -> u64 { n + 1 }
async fn walk(n: u64) -> u64 { step(n).await + step(n + 1).await }
#[no_mangle] pub fn start(n: u64) -> Box<dyn Future<Output = u64>> { Box::new(walk(n)) }
)code");
  mustRun("cd " + dir_.path() + " && rustc --edition 2021 -g --crate-type cdylib -o r.so r.rs 2>&1");
  const std::string binary = dir_.file("r.so");
  const auto niche = layoutDocument(binary, "Option<&u8>", false);
  EXPECT_STREQ(niche[0]["members"][0]["role"].GetString(), "discriminant");
  ASSERT_TRUE(niche[0]["members"][0].HasMember("niche"));
  EXPECT_STREQ(niche[0]["members"][0]["niche"].GetString(), "Some");
  EXPECT_FALSE(layoutDocument(binary, "Option<u64>", false)[0]["members"][0].HasMember("niche"));
  const std::string states = layoutsJson(binary, "walk::{async_fn_env#0}", {64, false});
  EXPECT_NE(states.find("\"variant\":\"Suspend0\""), std::string::npos) << states;
  EXPECT_NE(states.find("\"variant\":\"Unresumed\""), std::string::npos) << states;
  EXPECT_EQ(states.find("\"variant\":\"3\""), std::string::npos) << states;
}

TEST_F(Layouts, TellRepeatedBasesApart) {
  const std::string binary = compile("b.cpp", R"code(
struct B { virtual void f() {} long b = 0; };
struct D1 : B { long d1 = 0; };
struct D2 : B { long d2 = 0; };
struct Dia : D1, D2 { long d = 0; };
struct Deep : Dia, D1 { long own = 0; };
Deep deep;
)code",
                                     "g++ -g -w");
  const auto layout = layoutDocument(binary, "Deep", true);
  std::set<std::string> names;
  for (const auto& row : layout[0]["members"].GetArray())
    EXPECT_TRUE(names.insert(row["name"].GetString()).second) << row["name"].GetString();
}

TEST_F(Layouts, SayThatTheSupplementOfDwarf5IsNotRead) {
  NEED_TOOL("dwz", "dwz");
  writeFile(dir_.file("a.c"), "struct Big { int a; long b[40]; } big; int main(void) { return big.a; }\n");
  mustRun("cd " + dir_.path() + " && gcc -g -o a a.c && cp a b && dwz -5 -m alt -M alt a b 2>&1");
  for (const bool list : {false, true}) {
    try {
      ADD_FAILURE() << (list ? typesJson(dir_.file("a")) : layoutsJson(dir_.file("a"), "Big", {}));
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), "The types of " + dir_.file("a") +
                                               " continue in alt, which is named by .debug_sup: that "
                                               "section is not read.");
      EXPECT_NE(error.nextStep().find("dwz"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace cacheline::layouts
