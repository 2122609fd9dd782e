// Definitions of one name at one place of the source that are not compiled alike everywhere: a header with
// macros. All that differ are known, and what does not differ is known once.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "layouts/queries.h"
#include "layouts/type_index.h"
#include "symbols/dwarf_index.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using symbols::test::mustRun;
using symbols::test::writeFile;
using types::test::membersText;
using types::test::Program;
using types::test::TempDir;

constexpr const char* kHeaderOfDuplicates = R"code(
namespace first { struct Inner { int a; }; }
namespace second { struct Inner { int a; }; }
struct Other;
typedef char Buffer[LENGTH];
template <class T> struct Box { T value; };
struct Array { char a[LENGTH]; long b; };
struct Matrix { int a[ROWS][8 / ROWS]; };
struct Scope { SCOPE::Inner *p; };
struct Callback { int (*f)(MEMBER, long); };
struct Alias { Buffer b; long x; };
struct Inside { union { MEMBER u; long v; }; };
struct Argument { Box<MEMBER>* b; };
struct Constant { QUALIFIER char* p; };
struct Parent : SCOPE::Inner { long b; };
typedef struct { MEMBER m; long l; } Anonymous;
struct Deep { DEEP; };
struct Holder { Deep d; long n; };
struct Nested { struct { Holder h; } s; };
struct Elements { Holder h[2][2]; };
struct Derived : Holder { int i; };
typedef struct { Deep d; long n; } Typedef;
struct Same { int s; volatile char t[8]; union { int c; char d; }; Same* next; Other* other; Box<Box<int>> box; Buffer* b; };
#define VARIABLES(N) \
  Array array##N; Matrix matrix##N; Scope scope##N; Callback callback##N; Alias alias##N; Inside inside##N; \
  Argument argument##N; Constant constant##N; Parent parent##N; Anonymous anonymous##N; Same same##N; \
  Holder holder##N; Nested nested##N; Elements elements##N; Derived derived##N; Typedef typedef##N;
)code";
constexpr const char* kDuplicates[] = {"Array",    "Matrix",   "Scope",   "Callback",  "Alias", "Inside",
                                       "Argument", "Constant", "Parent",  "Anonymous", "Deep",  "Holder",
                                       "Nested",   "Elements", "Derived", "Typedef"};

struct Build {
  const char* name;
  const char* compiler;
  const char* flags;
  const char* then = "";
};

class OdrDuplicates : public testing::TestWithParam<Build> {
 protected:
  /// Two units of each kind; what `Same` points to is defined in one of them.
  void SetUp() override {
    const Build& build = GetParam();
    NEED_TOOL("clang++", "clang");
    NEED_TOOL("dwz", "dwz");
    const std::string kinds[] = {
        "-DLENGTH=1 -DROWS=1 -DMEMBER=int -DSCOPE=first -DQUALIFIER= '-DDEEP=int a, b'",
        "-DLENGTH=8 -DROWS=2 -DMEMBER=float -DSCOPE=second -DQUALIFIER=const '-DDEEP=char x[4]; int y'"};
    writeFile(dir_.file("duplicates.h"), kHeaderOfDuplicates);
    std::string link = "cd " + dir_.path() + " && " + build.compiler + " -shared -o lib.so " + build.flags;
    for (int unit = 0; unit < 4; unit++) {
      const std::string number = std::to_string(unit), name = "unit" + number;
      writeFile(dir_.file(name + ".cpp"), "#include \"duplicates.h\"\nVARIABLES(" + number + ")\n" +
                                              (unit == 3 ? "struct Other { int x; } other;\n" : ""));
      mustRun("cd " + dir_.path() + " && " + build.compiler + " -g -fPIC -c " + build.flags + " " +
              kinds[unit % 2] + " " + name + ".cpp");
      link += " " + name + ".o";
    }
    mustRun(link + " 2>/dev/null");
    mustRun("cd " + dir_.path() + " && cp lib.so other.so" + build.then);
  }
  std::string library() const { return dir_.file("lib.so"); }
  TempDir dir_;
};

TEST_P(OdrDuplicates, AllThatDifferAreKnownAndTheSameIsKeptOnce) {
  Program program(library());
  std::map<std::string, int> listed, declared;
  for (const TypeSummary& type : program.types().list()) listed[type.name]++;
  for (const Declared& one : program.types().declaredIn(dir_.file("duplicates.h")))
    if (one.variable.empty()) declared[program.table().nameOf(one.type)]++;
  for (const char* name : kDuplicates) {
    EXPECT_EQ(listed[name], 2) << name;
    EXPECT_EQ(declared[name], 2) << name;
    const std::string answer = layoutsJson(library(), name, {});
    const size_t begin = answer.find('['), end = answer.rfind(R"(,"missing")");
    ASSERT_TRUE(begin < end && end < answer.size()) << answer;
    const std::string json = answer.substr(begin, end - begin);
    const size_t second = json.find("},{\"name\":\"" + std::string(name) + "\"");
    ASSERT_NE(second, std::string::npos) << json;
    const bool differ = json.substr(1, second) != json.substr(second + 2, json.size() - second - 3);
    // What is in arrays is not opened.
    EXPECT_TRUE(differ || json.find("\"differsIn\":[\"Deep\"]") != std::string::npos) << json;
  }
  const TypeIndex index = buildTypeIndex(*program.module().dwarf());
  for (const char* name : {"Same", "Box<int>", "first::Inner"}) {
    const auto [first, last] = index.withName(name);
    EXPECT_EQ(last - first, 1u) << name;
  }
}

TEST(Namesakes, OfOtherScopesThatLookAlikeAreNotOpened) {
  const TempDir dir;
  const std::string point = " { struct Point { Inner in; long n; } point; }\n";
  writeFile(dir.file("points.cpp"),
            "struct Inner { int a; };\nnamespace first" + point + "namespace second" + point);
  mustRun("cd " + dir.path() + " && g++ -g -shared -fPIC -o lib.so points.cpp");
  const std::string json = layoutsJson(dir.file("lib.so"), "Point", {});
  EXPECT_NE(json.find("first::Point"), std::string::npos) << json;
  EXPECT_NE(json.find("second::Point"), std::string::npos) << json;
  EXPECT_EQ(json.find("in.a"), std::string::npos) << json;
}

/// clang defines a class where its constructor is, and elsewhere only declares it.
TEST(DeclaredMembers, AClassThatOneUnitOnlyDeclaresMakesNoDuplicates) {
  NEED_TOOL("clang++", "clang");
  const TempDir dir;
  writeFile(dir.file("outer.h"),
            "struct Inner { Inner(); long a, b; };\nstruct Outer { Inner in; long n; };\n");
  writeFile(dir.file("inner.cpp"), "#include \"outer.h\"\nInner::Inner() : a(1), b(2) {}\nOuter one;\n");
  writeFile(dir.file("use.cpp"), "#include \"outer.h\"\nOuter two;\n");
  writeFile(dir.file("point.cpp"), "struct Outer;\nOuter* pointer;\n");
  mustRun("cd " + dir.path() + " && clang++ -g -fPIC -shared -o lib.so point.cpp use.cpp inner.cpp");
  Program program(dir.file("lib.so"));
  int outers = 0;
  for (const TypeSummary& type : program.types().list()) outers += type.name == "Outer";
  EXPECT_EQ(outers, 1);
  const TypeTable& table = program.table();
  EXPECT_EQ(table.sizeOf(table.pointee(program.variable("pointer"))), 24u);
}

/// gcc then defines only what a header of the unit's own name has.
TEST(DeclaredMembers, OfDuplicatesThatDifferInsideTheOneThatKnowsIsKept) {
  const TempDir dir;
  writeFile(dir.file("inner.h"), "struct inner { INNER; };\n");
  writeFile(dir.file("outer.h"), "#include \"inner.h\"\nstruct outer { struct inner i; long n; };\n");
  const std::string code = "#include \"outer.h\"\nstruct outer ";
  writeFile(dir.file("outer.c"), "#define INNER int a, b\n" + code + "declared;\n");
  writeFile(dir.file("one.c"), "#define INNER int a, b\n" + code + "one;\n");
  writeFile(dir.file("two.c"), "#define INNER char x[4]; int y\n" + code + "two;\n");
  mustRun("cd " + dir.path() +
          " && gcc -g -fPIC -c -femit-struct-debug-baseonly outer.c && gcc -g -fPIC -c one.c two.c");
  for (const char* objects : {"outer.o one.o two.o", "one.o outer.o two.o", "two.o one.o outer.o"}) {
    mustRun("cd " + dir.path() + " && gcc -shared -o lib.so " + objects);
    Program program(dir.file("lib.so"));
    std::set<std::string> inside;
    const std::vector<TypeId> outers = program.types().named("outer");
    for (const TypeId type : outers)
      inside.insert(membersText(program.table()[program.table()[type].members.front().type]));
    EXPECT_EQ(inside, (std::set<std::string>{"a@0:4 b@4:4", "x@0:4 y@4:4"})) << objects;
    EXPECT_EQ(outers.size(), 2u) << objects;
  }
}

/// Link-time optimization takes a type's definition into another unit, where its members are of types of a
/// third one.
TEST(DeclaredMembers, AMemberWhoseTypeIsInAnotherUnitMakesNoDuplicates) {
  NEED_TOOL("clang++", "clang");
  const TempDir dir;
  writeFile(dir.file("stat.h"),
            "namespace ns { template <class T> struct Cell { T value; }; }\n"
            "struct Stat { virtual ~Stat(); ns::Cell<long> hits; virtual long f(long n); };\n"
            "struct Holder { char c; Stat stat; long n; };\n"
            "long use(Stat& s);\n");
  writeFile(dir.file("one.cpp"),
            "#include \"stat.h\"\nHolder holder;\nns::Cell<long> own{3};\n"
            "int main() { return static_cast<int>(use(holder.stat) + own.value); }\n");
  writeFile(dir.file("two.cpp"),
            "#include \"stat.h\"\nStat::~Stat() {}\n"
            "long Stat::f(long n) { hits.value += n; return hits.value; }\n"
            "long use(Stat& s) { return s.f(2) + s.hits.value; }\n");
  const std::string link = "cd " + dir.path() + " && clang++ -g -O1 -flto=thin -fuse-ld=gold -o ";
  if (std::system((link + "none -x c++ /dev/null -shared 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "the linker's plugin for clang is not installed";
  mustRun(link + "program one.cpp two.cpp");
  Program program(dir.file("program"));
  const TypeIndex index = buildTypeIndex(*program.module().dwarf());
  const auto [first, last] = index.withName("Stat");
  EXPECT_EQ(last - first, 1u);
  EXPECT_EQ(membersText(program.typeOf("holder")), "c@0:1 stat@8:16 n@24:8");
  for (const Member& member : program.typeOf("holder").members)
    EXPECT_FALSE(member.incomplete) << member.name;
}

/// gcc and g++ say in different ways that an array has no elements.
TEST(DeclaredMembers, AnArrayWithoutElementsMakesNoDuplicatesOfCAndCxx) {
  for (const std::string bits : {"-m32", "-m64"}) {
    const TempDir dir;
    writeFile(dir.file("head.h"), "struct Head { char c; int x; char h[0]; };\n");
    writeFile(dir.file("one.c"), "#include \"head.h\"\nstruct Head one;\n");
    writeFile(dir.file("two.cpp"), "#include \"head.h\"\nHead two;\n");
    mustRun("cd " + dir.path() + " && gcc -g -c -fPIC " + bits + " one.c two.cpp && gcc " + bits +
            " -nostdlib -shared -o lib.so one.o two.o");
    Program program(dir.file("lib.so"));
    const TypeIndex index = buildTypeIndex(*program.module().dwarf());
    const auto [first, last] = index.withName("Head");
    EXPECT_EQ(last - first, 1u) << bits;
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, OdrDuplicates,
                         testing::Values(Build{"gcc", "g++", ""}, Build{"clang", "clang++", ""},
                                         Build{"TypeUnits", "g++", "-fdebug-types-section"},
                                         Build{"TypeUnits4", "g++", "-gdwarf-4 -fdebug-types-section"},
                                         Build{"Split4", "g++", "-gdwarf-4 -gsplit-dwarf"},
                                         Build{"Split5", "clang++", "-gsplit-dwarf"},
                                         Build{"Dwz", "g++", "", " && dwz -m common lib.so other.so"},
                                         Build{"Lto", "g++", "-flto -O1"},
                                         Build{"SimpleTemplateNames", "clang++", "-gsimple-template-names"}),
                         [](const testing::TestParamInfo<Build>& build) { return build.param.name; });

}  // namespace
}  // namespace cacheline::layouts
