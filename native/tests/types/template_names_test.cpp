// Names of templates that were compiled with -gsimple-template-names, judged by those that the same compiler
// writes itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "types_fixture.h"

namespace cacheline::types {
namespace {

using namespace layouts;
using test::Program;
using test::TempDir;

constexpr const char* kSource = R"code(
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace app {
enum Color { kRed, kGreen = 5 };
enum class Mode : short { off = -1, on = 1 };
struct Plain { int a; template <class U> struct In { U u; }; };
template <class T, int N> struct Pool { T items[N]; };
template <unsigned long U, long L, short S, unsigned short T, unsigned char C, char Ch, bool B> struct Values { char b[4]; };
template <Color C, Mode M> struct Enums { int a; };
template <class... Ts> struct Pack { int n; };
template <int First, int... Is> struct Ints { int n; };
template <template <class> class V> struct OfTemplate { V<int> v; };
template <class T> struct Box { T t; };
template <class F> struct Function { F* f; };
template <auto V> struct Auto { int v; };
template <class T> struct Outer { struct Inner { T t; }; template <class U> struct Nested { T t; U u; }; Inner i; Nested<char> n; };
template <class T> struct Declared;
struct UsesDeclared { Declared<Plain>* p; };
template <int* P> struct Address { int v; };
int global;
}
namespace { struct Hidden { int x; }; }
using namespace app;
Pool<Plain, 4> pool;
Values<1, -2, -3, 5, 4, 'a', true> values;
Values<1ul << 63, -9223372036854775807L - 1, 0, 0, 200, '\n', false> limits;
Values<0, 0, 0, 0, 0, '\'', true> zeroes;
Enums<kGreen, Mode::off> enums;
Enums<Color(3), Mode(7)> unnamed;
Pack<int, Plain*, const char*, Box<Box<long>>> pack;
Pack<> empty;
Ints<1, -2, 3> ints;
OfTemplate<Box> ofTemplate;
Function<void(int, Plain&)> function;
Function<int (*)(Box<int>)> pointer;
Function<void()> nothing;
Function<int(...)> variadic;
Auto<7> integer;
Auto<kRed> color;
Auto<Mode::on> mode;
Auto<'x'> character;
Auto<(signed char)-3> small;
Auto<L'x'> wide;
Auto<u'\u1234'> utf16;
Auto<U'x'> utf32;
Auto<6ull> large;
Auto<false> boolean;
Outer<int> outer;
Plain::In<long> inner;
Box<int[4]> array;
Box<Hidden> hidden;
Box<unsigned long long> longest;
Box<__int128> widest;
Box<std::string> string;
Box<decltype(nullptr)> null;
Box<int Plain::*> member;
Box<void (Plain::*)(int) const> method;
Box<const Plain* const*> pointers;
struct References { Box<int&>* a; Box<int (&)[3]>* b; Box<Box<int>&&>* c; Box<const volatile int>* d; } references;
Box<Color> colored;
Address<&app::global> address;
UsesDeclared declared;
std::vector<std::map<int, Plain>> nested;
std::atomic<long> atomic;
std::unique_ptr<Pool<Hidden, 2>> unique;
)code";

std::set<std::string> namesOf(Program& program) {
  std::set<std::string> names;
  for (const TypeSummary& type : program.types().list()) names.insert(type.kind + " " + type.name);
  for (const symbols::Symbol& symbol : program.module().image()->dataSymbols())
    if (const auto variable = program.types().variableAt(symbol.address))
      names.insert(variable->name + " is a " + program.table().nameOf(variable->type));
  return names;
}

TEST(TemplateNames, AreThoseOfTheCompiler) {
  NEED_TOOL("clang++", "clang");
  for (const char* version : {"-gdwarf-5 ", "-gdwarf-4 ", "-gdwarf-4 -fdebug-types-section "}) {
    const TempDir whole, simple;
    Program judge(whole, "cpp", kSource, version, "clang++");
    Program program(simple, "cpp", kSource, std::string(version) + "-gsimple-template-names", "clang++");
    const std::set<std::string> judged = namesOf(judge), found = namesOf(program);
    ASSERT_GT(judged.size(), 100u) << version;
    // More types are defined there, none is called otherwise.
    std::vector<std::string> absent;
    std::set_difference(judged.begin(), judged.end(), found.begin(), found.end(), std::back_inserter(absent));
    EXPECT_EQ(absent, std::vector<std::string>{}) << version;
    for (const std::string& name : found)
      EXPECT_TRUE(judged.count(name) == 1 || name.find(" std::") != std::string::npos) << version << name;
    EXPECT_EQ(program.types().named("Pool<app::Plain, 4>").size(), 1u) << version;
    const Type& uses = program.typeOf("declared");
    EXPECT_EQ(program.table().nameOf(uses.members.at(0).type), "app::Declared<app::Plain> *") << version;
  }
}

}  // namespace
}  // namespace cacheline::types
