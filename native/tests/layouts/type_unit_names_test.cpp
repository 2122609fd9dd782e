// What one unit defines, others declare, and type units have: one entry each, of one name. The same source
// compiled without type units and without -gsplit-dwarf is the judge.
#include <gtest/gtest.h>

#include <algorithm>

#include "layouts/queries.h"
#include "layouts/type_index.h"
#include "symbols/dwarf_index.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using namespace types::test;
using symbols::test::mustRun;
using symbols::test::writeFile;

/// Only code: the tables of files of type units do not have it.
constexpr const char* kOnlyCode = "inline int twice(int x) { return x * 2; }\n";
constexpr const char* kAppHeader = R"code(
namespace app {
struct Later;
struct Homed { Homed(); long a, b; };
struct Keyed { virtual void run(); int k; };
struct Outer { Homed in; Later* later; Homed more[2]; };
struct Nest {
  struct In { int a; struct Deep { char c; Later* l; } deep; } in;
  enum E { x, y } e;
  enum class F : short;
  F f;
  typedef struct { int q; Later* l; } Alias;
  Alias* alias;
};
inline namespace v1 {
template <class T> struct Box { struct Node { T value; Later* l; } node; Outer* o; };
}
typedef struct { Box<int>::Node node; Homed h; } Alias;
typedef struct { Box<long>::Node node; } OnlyInUses;
struct Uses : Keyed {
  OnlyInUses only; Alias a; Box<Outer> b; Box<Nest::In> n; int (*call)(Later*, Nest&); int Outer::* member;
};
union Any { Outer* o; Nest::In in; Uses* u; };
}
)code";
constexpr const char* kAppSources[] = {
    R"code(#include "first.h"
#include "second.h"
app::Homed::Homed() : a(twice(1)), b(2) {}
app::Nest nest; app::Uses* uses; app::Any any;
namespace { struct Local { app::Later* l; int i; } local; }
int one() { struct Inside { int x; app::Outer* o; } in{1, nullptr}; return in.x + local.i; }
)code",
    R"code(#include "second.h"
void app::Keyed::run() {}
namespace app {
struct Later { int x; Outer* up; };
enum class Nest::F : short { p, q };
}
app::Later later;
app::Uses real;
)code",
    R"code(#include "first.h"
#include "second.h"
app::Outer outer; app::Nest::Alias* alias; app::Alias named; app::Nest::In::Deep deep;
long three() { return twice(outer.in.a) + alias->q; }
)code",
    R"code(namespace app { struct Uses; struct Outer; struct Nest; union Any; struct Later; }
app::Uses* toUses;
app::Outer* toOuter;
app::Nest* toNest;
app::Any* toAny;
struct Own { app::Nest* nest; app::Later* later; } own;
)code"};

std::string appOf(const std::string& folder, const std::string& compiler) {
  mustRun("mkdir -p " + folder);
  writeFile(folder + "/first.h", kOnlyCode);
  writeFile(folder + "/second.h", kAppHeader);
  std::string objects;
  for (size_t i = 0; i < std::size(kAppSources); i++) {
    const std::string name = "s" + std::to_string(i);
    writeFile(folder + "/" + name + ".cpp", kAppSources[i]);
    mustRun("cd " + folder + " && " + compiler + " -fPIC -c " + name + ".cpp");
    objects += " " + name + ".o";
  }
  mustRun("cd " + folder + " && " + compiler + " -shared -o lib.so" + objects);
  return folder + "/lib.so";
}

TypeIndex entriesOf(const std::string& binary) {
  return buildTypeIndex(*symbols::Module::open(binary, "")->dwarf());
}

std::string saidOf(const std::string& binary, const std::string& folder) {
  std::string text = typesJson(binary);
  const TypeIndex index = entriesOf(binary);
  for (const IndexedType& type : index.types) text += "\n" + layoutsJson(binary, type.name, {64, true});
  for (const std::string& name : index.declared) text += "\ndeclared " + name;
  text += "\n" + declarationsJson(binary, folder + "/s3.cpp", {});
  Program program(binary);
  for (const char* variable : {"nest", "any", "real", "later", "outer", "named", "own", "deep"})
    for (const uint64_t offset : {0, 8, 16, 24, 40, 64, 96})
      text += "\n" + program.fields(variable, offset, 4);
  return text;
}

class TypeUnitNames : public testing::TestWithParam<std::string> {};

TEST_P(TypeUnitNames, AreThoseOfTheTypes) {
  NEED_TOOL("clang++", "clang");
  TempDir dir;
  const std::string compiler = GetParam();
  const std::string whole = saidOf(appOf(dir.path(), compiler), dir.path());
  EXPECT_NE(whole.find("app::Nest::In::Deep"), std::string::npos);
  for (const std::string flags :
       {"", " -fdebug-types-section", " -gsplit-dwarf", " -gsplit-dwarf -fdebug-types-section"}) {
    const std::string binary = appOf(dir.path(), compiler + flags);
    EXPECT_EQ(saidOf(binary, dir.path()), whole) << flags;
    const TypeIndex index = entriesOf(binary);
    const auto twice = std::adjacent_find(index.types.begin(), index.types.end(),
                                          [](const auto& a, const auto& b) { return a.name == b.name; });
    EXPECT_EQ(twice, index.types.end()) << twice->name << " has two entries" << flags;
    mustRun("rm -f " + dir.file("*.dwo"));
  }
}

/// DWARF 4 of g++ has the line of a static member's definition in the unit that has this.
TEST(StaticMembers, AreNoDifferenceBetweenDefinitions) {
  TempDir dir;
  writeFile(dir.file("job.h"),
            "struct Base { virtual void run(); };\n"
            "struct Job : Base { int state; static Job last; };\n");
  writeFile(dir.file("a.cpp"), "#include \"job.h\"\nJob one;\n");
  writeFile(dir.file("b.cpp"), "#include \"job.h\"\nvoid Base::run() {}\n\n\nJob Job::last;\n");
  writeFile(dir.file("c.cpp"), "struct Job;\nJob* given;\n");
  mustRun("cd " + dir.path() + " && g++ -gdwarf-4 -shared -fPIC -o lib.so a.cpp b.cpp c.cpp");
  const TypeIndex index = entriesOf(dir.file("lib.so"));
  const auto [first, last] = index.withName("Job");
  EXPECT_EQ(last - first, 1u);
  Program program(dir.file("lib.so"));
  const TypeId given = program.table().pointee(program.variable("given"));
  EXPECT_EQ(membersText(program.table()[given]), "@0:8 state@8:4");
}

INSTANTIATE_TEST_SUITE_P(Types, TypeUnitNames,
                         testing::Values("g++ -gdwarf-4", "g++ -gdwarf-5", "g++ -gdwarf-5 -O2",
                                         "clang++ -gdwarf-4", "clang++ -gdwarf-5", "clang++ -gdwarf-4 -O2"));

}  // namespace
}  // namespace cacheline::layouts
