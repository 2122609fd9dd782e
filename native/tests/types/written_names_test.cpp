// Types by the names that people write: without scopes, without default template arguments, by typedefs.
#include "types/written_names.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "layouts/queries.h"
#include "types_fixture.h"

namespace cacheline::types::test {
namespace {

using namespace layouts;

NameFit fit(std::string_view written, std::string_view name) {
  return fitOfName(squeezedName(written), squeezedName(name));
}

TEST(WrittenNames, FitWholeByTheirTailOrShortened) {
  EXPECT_EQ(fit("struct ns::Box", "ns::Box"), NameFit::whole);
  EXPECT_EQ(fit("Box<int,4>", "Box<int, 4>"), NameFit::whole);
  EXPECT_EQ(fit("Box", "ns::Box"), NameFit::tail);
  EXPECT_EQ(fit("Board", "main.Board"), NameFit::tail);
  EXPECT_EQ(fit("ox", "Box"), NameFit::none);
  EXPECT_EQ(fit("ns::Box", "ns::(anonymous namespace)::Box"), NameFit::shortened);
  EXPECT_EQ(fit("std::vector<int>", "std::vector<int, std::allocator<int>>"), NameFit::shortened);
  EXPECT_EQ(fit("std::string<char>", "std::__cxx11::string<char, traits<char>>"), NameFit::shortened);
  EXPECT_EQ(fit("Vec<u64>::Part", "alloc::Vec<u64, alloc::Global>::Part"), NameFit::shortened);
  EXPECT_EQ(fit("Pair<int>", "Pair<int, int>::Half<int>"), NameFit::none);
  EXPECT_EQ(fit("map<ns::Key, vector<int>*>", "map<ns::v1::Key, std::vector<int, A<int>>*, Less<int>>"),
            NameFit::shortened);
  EXPECT_EQ(fit("map<vector<int>>", "map<vector<int, A<int>>*>"), NameFit::none);
  EXPECT_EQ(fit("map<int, int, int>", "map<int, int>"), NameFit::none);
  EXPECT_EQ(fit("map<int", "map<int, int>"), NameFit::none);
  EXPECT_EQ(fit("vector<unsigned>", "vector<unsigned int, A<unsigned int>>"), NameFit::shortened);
  EXPECT_EQ(fit("Pair<int>", "Pair<int>, Pair<int>"), NameFit::none) << "not one bracket";
  EXPECT_EQ(fit("b::a", "a::b"), NameFit::none) << "scopes keep their order";
  EXPECT_EQ(fit("", "Box"), NameFit::none);
  EXPECT_EQ(fit(">", ">"), NameFit::whole);
  EXPECT_EQ(fit("Box<int>>", "Box<int>::Box<int>"), NameFit::none);
  EXPECT_EQ(fit("ns::Box<int>>", "ns::(anonymous namespace)::Box<int>"), NameFit::none);
  EXPECT_EQ(fit(">>>", "a<b<c<d>>>"), NameFit::none);
}

TEST(WrittenNames, FitBareWithoutArguments) {
  EXPECT_EQ(fit("Ring", "Ring<int>"), NameFit::bare);
  EXPECT_EQ(fit("Ring", "ns::Ring<ns::Box<int>, 4>"), NameFit::bare);
  EXPECT_EQ(fit("ns::Ring", "ns::v1::Ring<int>"), NameFit::bare);
  EXPECT_EQ(fit("main.Ring", "main.Ring[int]"), NameFit::bare);
  EXPECT_EQ(fit("Box<int>::Ring", "Box<int>::Ring<int>"), NameFit::bare);
  EXPECT_EQ(fit("Rin", "Ring<int>"), NameFit::none);
  EXPECT_EQ(fit("other::Ring", "ns::Ring<int>"), NameFit::none);
  EXPECT_EQ(fit("Box", "Ring<Box>"), NameFit::none);
  EXPECT_EQ(fit("Ring", "Ring<int>::Part"), NameFit::none);
}

TEST(WrittenNames, ATemplateWithoutArgumentsIsItsOnlyInstance) {
  const symbols::test::TempDir dir;
  Program program(
      dir, "cpp",
      "namespace ns { template <class T> struct Ring { T t[8]; }; template <class T> struct Pair { "
      "T a, b; }; } namespace { template <class T> struct Box { T t; }; }\n"
      "template <class T> struct Twice { T t; }; namespace ns { struct Twice { char c[5]; }; }\n"
      "ns::Ring<int> ring; ns::Pair<int> one; ns::Pair<char> two; Box<long> box; Twice<int> "
      "twice; ns::Twice plain;\n");
  const auto names = [&](const std::string& written) {
    std::vector<std::string> all;
    for (const TypeId type : program.types().named(written)) all.push_back(program.table().nameOf(type));
    return all;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("Ring"), Names{"ns::Ring<int>"});
  EXPECT_EQ(names("ns::Ring"), Names{"ns::Ring<int>"});
  EXPECT_EQ(names("Box").size(), 1u);
  EXPECT_EQ(names("Pair"), Names{}) << "which one is not said";
  EXPECT_EQ(names("Twice"), Names{"ns::Twice"}) << "a name that is written in full comes first";
}

TEST(WrittenNames, IntegersHaveOneSpelling) {
  EXPECT_EQ(fit("Box<long>", "Box<long int>"), NameFit::whole);
  EXPECT_EQ(fit("Box<unsigned long>", "Box<long unsigned int>"), NameFit::whole);
  EXPECT_EQ(fit("Box<unsigned long long int>", "Box<long long unsigned int>"), NameFit::whole);
  EXPECT_EQ(fit("Box<short>", "Box<short int>"), NameFit::whole);
  EXPECT_EQ(squeezedName("Box<my_long int_t>"), "Box<my_longint_t>") << "only whole words";
}

const char* const kNamedTypes = R"code(
template <typename T> struct Free {};
template <typename T, typename Deleter = Free<T>> struct Holder { T* held; long count; };
namespace ns {
namespace { struct Hidden { char c; }; }
inline namespace v1 { struct Versioned { int v; }; }
typedef Holder<int> IntHolder;
struct Nested { using Inside = Holder<long>; };
enum Color { red };
typedef Color Paint;
typedef enum { loud } Noise;
typedef Nested* Link;
struct Opaque;
typedef Opaque Handle;
}
namespace other { using IntHolder = Holder<int>; }
ns::IntHolder a; ns::Hidden b; ns::Versioned c; ns::Nested::Inside d; ns::Nested e; ns::Paint f; ns::Link g; ns::Handle* h; ns::Noise j; other::IntHolder i;
char* hidden() { return &b.c; }
)code";

const char* const kContainers = R"code(
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>
namespace app { struct Point { int x; }; using Key = unsigned long; using Pointer = Point*; template <class T, int N = 4> struct Ring { T t[N]; }; }
std::map<std::string, int> a; std::vector<std::string> b; std::unordered_map<std::string, std::vector<int>> c;
std::vector<uint64_t> d; std::map<app::Key, app::Point*> e; app::Ring<app::Ring<std::string, 2>> f;
std::function<void(const std::string&)> g; std::vector<const app::Ring<app::Point>*> h;
app::Key key;
app::Pointer pointer;
unsigned long size() { return a.size() + b.size() + c.size() + d.size() + e.size() + h.size() + (g ? 1 : 0); }
)code";

constexpr const char* kNoLayouts = R"({"layouts":[],"missing":[]})";

TEST(WrittenNames, OfTemplatesWithAliasesForArguments) {
  const symbols::test::TempDir dir;
  for (const char* compiler : {"g++", "clang++"}) {
    if (!haveTool(compiler)) continue;
    const std::string binary =
        compile(dir, "containers.so", "cpp", kContainers, "-std=c++20 -g -shared -fPIC", compiler);
    const auto isOne = [&](const std::string& written, const std::string& start) {
      const std::string json = layoutsJson(binary, written, {});
      const std::string name = "\"name\":\"" + start;
      return json.starts_with(R"({"layouts":[{)" + name) && json.find("},{" + name) == std::string::npos;
    };
    EXPECT_TRUE(isOne("std::map<std::string, int>", "std::map<std::__cxx11::basic_string<")) << compiler;
    EXPECT_TRUE(isOne("std::vector<std::string>", "std::vector<std::__cxx11::basic_string<")) << compiler;
    EXPECT_TRUE(
        isOne("std::unordered_map<std::string, std::vector<int>>", "std::unordered_map<std::__cxx11::"))
        << compiler;
    EXPECT_TRUE(isOne("std::vector<uint64_t>", "std::vector<")) << compiler;
    EXPECT_TRUE(isOne("std::map<app::Key, app::Point*>", "std::map<")) << compiler;
    EXPECT_TRUE(isOne("std::map<unsigned long, app::Pointer>", "std::map<")) << compiler;
    EXPECT_TRUE(isOne("Ring<Ring<std::string, 2>>", "app::Ring<app::Ring<std::__cxx11::basic_string<"))
        << compiler;
    EXPECT_TRUE(isOne("std::function<void(const std::string&)>", "std::function<void")) << compiler;
    EXPECT_TRUE(isOne("std::vector<const app::Ring<app::Point>*>", "std::vector<")) << compiler;
    EXPECT_EQ(layoutsJson(binary, "std::vector<std::wstring>", {}), kNoLayouts) << compiler;
    EXPECT_EQ(layoutsJson(binary, "std::vector<std::string, int>", {}), kNoLayouts) << compiler;
  }
}

TEST(WrittenNames, FindTypesOfABinary) {
  const symbols::test::TempDir dir;
  for (const char* compiler : {"g++", "clang++"}) {
    if (!haveTool(compiler)) GTEST_SKIP() << compiler << " is not installed: apt-get install " << compiler;
    Program program(dir, "cpp", kNamedTypes, "", compiler);
    const auto sizes = [&](const std::vector<TypeId>& types) {
      std::vector<uint64_t> all;
      for (const TypeId type : types) all.push_back(program.table().sizeOf(type).value_or(0));
      return all;
    };
    using Sizes = std::vector<uint64_t>;
    EXPECT_EQ(sizes(program.types().named("Holder<int>")), Sizes{16}) << compiler;
    EXPECT_EQ(sizes(program.types().named("ns::Hidden")), Sizes{1});
    EXPECT_EQ(sizes(program.types().named("ns::Versioned")), Sizes{4});
    EXPECT_EQ(sizes(program.types().named("ns::IntHolder")), Sizes{}) << "the index has no typedefs";
    EXPECT_EQ(sizes(program.types().plainNamed("ns::IntHolder")), Sizes{16});
    EXPECT_EQ(sizes(program.types().plainNamed("IntHolder")), Sizes{16}) << "two that are one structure";
    EXPECT_EQ(sizes(program.types().plainNamed("Nested::Inside")), Sizes{16});
    EXPECT_EQ(sizes(program.types().plainNamed("Paint")), Sizes{4});
    EXPECT_EQ(sizes(program.types().plainNamed("Nested")), Sizes{}) << "named() has it";
    EXPECT_EQ(sizes(program.types().plainNamed("")), Sizes{});
  }
}

TEST(WrittenNames, LayoutsSayWhatAnythingElseIs) {
  const symbols::test::TempDir dir;
  const std::string binary = symbols::test::compile(dir, "named.so", "cpp", kNamedTypes, "-g -shared -fPIC");
  EXPECT_NE(layoutsJson(binary, "IntHolder", {}).find("\"name\":\"Holder<int, Free<int>>\""),
            std::string::npos);
  EXPECT_EQ(layoutsJson(binary, "Absent", {}), kNoLayouts);
  const auto refused = [&](const char* name) -> std::string {
    try {
      return layoutsJson(binary, name, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unreadable);
      EXPECT_FALSE(error.nextStep().empty());
      return error.what();
    }
  };
  EXPECT_EQ(refused("Color"),
            "Color is the enum ns::Color in " + binary + ", not a structure: it has no members.");
  EXPECT_EQ(refused("Paint"),
            "Paint is the enum ns::Color in " + binary + ", not a structure: it has no members.");
  EXPECT_EQ(refused("Noise"), "Noise is an enum in " + binary + ", not a structure: it has no members.");
  EXPECT_EQ(refused("int"), "int is a base type in " + binary + ", not a structure: it has no members.");
  EXPECT_EQ(refused("Link"),
            "Link is the pointer ns::Nested * in " + binary + ", not a structure: it has no members.");
  EXPECT_NE(refused("Handle").find("incomplete"), std::string::npos);
}

}  // namespace
}  // namespace cacheline::types::test
