// Types read from small compiled programs: each rule of C and C++ once, in the forms that compilers write.
#include "types/type_table.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

#include "layouts/layout.h"
#include "types_fixture.h"

namespace cacheline::types {
namespace {

using namespace layouts;
using namespace test;

struct Build {
  const char* compiler;
  const char* flags;
};
void PrintTo(const Build& build, std::ostream* out) {
  *out << build.compiler << " " << build.flags;
}

class Compiled : public testing::TestWithParam<Build> {
 protected:
  Program build(const std::string& extension, const std::string& source) {
    std::string compiler = GetParam().compiler;
    if (extension == "cpp") compiler = compiler == "gcc" ? "g++" : "clang++";
    return Program(dir, extension, source, GetParam().flags, compiler);
  }
  void SetUp() override {
    if (!haveTool(GetParam().compiler))
      GTEST_SKIP() << "needs " << GetParam().compiler << ": apt-get install " << GetParam().compiler;
  }
  TempDir dir;
};
class CompiledCpp : public Compiled {};

const char* const kCSource = R"code(
#include <stdatomic.h>
typedef struct { int cents; long units; } money_t;
enum color { red, green };
struct node {
  char tag;
  struct node *next;
  const char *const name;
  money_t today;
  struct { short x, y; };
  union { int i; float f; } value;
  unsigned low : 3, mid : 7, high : 22;
  long grid[3][4];
  _Atomic long hits;
  enum color color;
  int (*call)(struct node *, int, ...);
  volatile int flag;
  double tail[];
};
struct node first;
money_t wallet;
struct opaque;
struct holder { struct opaque *secret; struct node *nodes[5]; } holder;
struct __attribute__((packed)) wire { char kind; int length; unsigned a : 5, b : 30; short end; } wire;
)code";

TEST_P(Compiled, CStructures) {
  Program program = build("c", kCSource);
  const Type& node = program.typeOf("first");
  EXPECT_EQ(node.kind, Kind::structure);
  EXPECT_EQ(node.name, "node");
  EXPECT_EQ(node.size, 184u);
  EXPECT_EQ(membersText(node),
            "tag@0:1 next@8:8 name@16:8 today@24:16 @40:4 value@44:4 low@48.0:3 mid@48.3:7 high@48.10:22 "
            "grid@56:96 hits@152:8 color@160:4 call@168:8 flag@176:4 tail@184:0");
  EXPECT_EQ(node.members[0].line, 6u);
  EXPECT_EQ(node.line, 5u);
  EXPECT_EQ(node.file, dir.file("program.c"));
  EXPECT_EQ(membersText(program.typeOf("wire")), "kind@0:1 length@1:4 a@4.8:5 b@4.13:30 end@10:2");
}

TEST_P(Compiled, NamesOfCTypes) {
  Program program = build("c", kCSource);
  const Type& node = program.typeOf("first");
  std::vector<std::string> names;
  for (const Member& member : node.members) names.push_back(program.table().nameOf(member.type));
  const bool c11 = names[10] != "long" && names[10] != "long int";  // DWARF before 5 has no atomic types
  EXPECT_EQ(names[1], "node *");
  EXPECT_EQ(names[2], "const char *const");
  EXPECT_EQ(names[3], "money_t");
  EXPECT_EQ(names[4], "struct {...}");
  EXPECT_EQ(names[5], "union {...}");
  EXPECT_EQ(names[9].substr(names[9].size() - 6), "[3][4]");
  if (c11) {
    EXPECT_TRUE(names[10].starts_with("_Atomic long")) << names[10];
  }
  EXPECT_EQ(names[11], "color");
  EXPECT_EQ(names[12], "int (*)(node *, int, ...)");
  EXPECT_EQ(names[13], "volatile int");
  EXPECT_EQ(names[14], "double[]");
  EXPECT_EQ(program.table().nameOf(program.typeOf("holder").members[1].type), "node *[5]");
}

TEST_P(Compiled, ATypedefNamesWhatHasNoName) {
  Program program = build("c", R"code(
typedef struct { int a; struct { int in; } inner; union { int x; float y; }; } Anonymous, *Pointer;
typedef Anonymous Alias;
typedef union { int i; long l; } Both;
typedef enum { kOne } Choice;
typedef volatile struct { long l; } Bit;
struct Holder { Alias a; Pointer p; Both u; Choice c; Bit b; } holder;
)code");
  const TypeTable& table = program.table();
  std::string names;
  for (const Member& member : program.typeOf("holder").members) {
    const TypeId pointee = table.pointee(member.type);
    names += table.nameOf(pointee != kNoType ? pointee : table.strip(member.type)) + " ";
  }
  EXPECT_EQ(names, "Anonymous Anonymous Both Choice Bit ");
  const TypeId structure = table.strip(program.typeOf("holder").members[0].type);
  EXPECT_EQ(layoutOf(table, structure, {}).name, "Anonymous") << "that an alias stands for";
  EXPECT_EQ(table.nameOf(table[structure].members[1].type), "struct {...}");
  EXPECT_EQ(table.nameOf(table[structure].members[2].type), "union {...}");
}

TEST_P(Compiled, WhoAsksFirstDoesNotNameIt) {
  constexpr const char* kSource = R"code(
typedef struct { int a; } First, *Pointer;
typedef First Second;
typedef __typeof__(((Second*)0)[0]) Third;
Pointer pointer; Third third; Second second; First first;
)code";
  // In type units the structure is apart from its typedefs: who comes by one of them knows it.
  const bool apart = std::string(GetParam().flags).find("types-section") != std::string::npos;
  for (const char* symbol : {"pointer", "third", "second", "first"}) {
    Program program = build("c", kSource);
    const TypeTable& table = program.table();
    const TypeId type = program.variable(symbol), pointee = table.pointee(type);
    if (pointee != kNoType && apart) continue;
    EXPECT_EQ(table.nameOf(pointee != kNoType ? pointee : table.strip(type)), "First") << symbol;
  }
}

TEST_P(Compiled, QualifiersOfArraysAreSaidOnce) {
  Program program = build("c", R"code(
typedef volatile long Long;
struct Arrays { volatile int plain[4]; Long alias[2][3]; const char *const pointers[2]; } arrays;
)code");
  std::vector<std::string> names;
  for (const Member& member : program.typeOf("arrays").members)
    names.push_back(program.table().nameOf(member.type));
  EXPECT_EQ(names, (std::vector<std::string>{"volatile int[4]", "Long[2][3]", "const char *const[2]"}));
}

TEST_P(Compiled, WhatIsOnlyDeclaredIsIncomplete) {
  Program program = build("c", kCSource);
  const TypeId opaque = program.table().pointee(program.typeOf("holder").members[0].type);
  ASSERT_NE(opaque, kNoType);
  EXPECT_EQ(program.table()[opaque].name, "opaque");
  EXPECT_TRUE(program.table()[opaque].declaration);
  EXPECT_FALSE(program.table().sizeOf(opaque));
}

TEST_P(Compiled, AnotherTableOfTheFileHasTheSameTypes) {
  Program program = build("c", kCSource);
  const auto reopened = program.module().reopened();
  BinaryTypes others(*reopened);
  size_t told = 0;
  // In another order: the numbers of the types are others.
  for (const char* symbol : {"wire", "holder", "wallet", "first"}) {
    const TypeId type = program.variable(symbol);
    const auto same = others.table().sameAs(program.table(), type);
    if (!same) continue;
    ++told;
    EXPECT_EQ(others.table().nameOf(*same), program.table().nameOf(type));
    EXPECT_EQ(others.table().sizeOf(*same), program.table().sizeOf(type));
    EXPECT_EQ(membersText(others.table()[*same]), membersText(program.table()[type]));
  }
  // The type units of DWARF 4 are in another section, and a typedef in none.
  const bool apart =
      std::string(GetParam().flags).find("-gdwarf-4 -fdebug-types-section") != std::string::npos;
  EXPECT_EQ(told, apart ? 1u : 4u);
  EXPECT_EQ(others.table().sameAs(program.table(), kNoType), kNoType);
}

TEST_P(Compiled, FieldsOfCStructures) {
  Program program = build("c", kCSource);
  EXPECT_EQ(program.fields("first", 0, 1), "tag char");
  EXPECT_EQ(program.fields("first", 1, 1), "") << "a hole";
  EXPECT_EQ(program.fields("first", 8, 8), "next node *");
  EXPECT_EQ(program.fields("first", 24, 4), "today.cents int");
  EXPECT_EQ(program.fields("first", 24, 8), "today.cents int") << "wider than the member it begins in";
  EXPECT_EQ(program.fields("first", 26, 4), "today money_t") << "begins in cents and ends behind it";
  EXPECT_EQ(program.fields("first", 44, 4), "value.i int, value.f float");
  EXPECT_EQ(program.fields("first", 160, 4), "color color");
  EXPECT_EQ(program.fields("first", 176, 4), "flag volatile int");
  EXPECT_EQ(program.fields("first", 184 + 24, 8), "tail[3] double") << "flexible";
  EXPECT_EQ(program.fields("holder", 1000, 8), "");
  EXPECT_EQ(program.fields("holder", 24, 8), "nodes[2] node *");
  const auto paths = [&](uint64_t offset, uint32_t width) {
    std::string text;
    for (const FieldPath& field : fieldsAt(program.table(), program.variable("first"), offset, width))
      text += field.path + "@" + std::to_string(field.offset) + "+" + std::to_string(field.size) + " ";
    return text;
  };
  EXPECT_EQ(paths(42, 2), "y@42+2 ") << "member of an anonymous structure";
  EXPECT_EQ(paths(48, 1), "low@48+4 mid@48+4 ");
  EXPECT_EQ(paths(50, 1), "high@48+4 ");
  EXPECT_EQ(paths(48, 4), "low@48+4 mid@48+4 high@48+4 ");
  EXPECT_EQ(paths(56 + 8 * 7, 8), "grid[1][3]@112+8 ");
  EXPECT_EQ(paths(152, 8), "hits@152+8 ");
  const auto grid = fieldsAt(program.table(), program.variable("first"), 56 + 8 * 7, 8);
  ASSERT_EQ(grid.size(), 1u);
  EXPECT_EQ(grid[0].index, 1u);
}

TEST_P(Compiled, AnAlternativeOfBytesIsNamedOnlyWhereThereIsNoOther) {
  Program program = build("c", R"code(
struct slot { int tag; int state; };
union padded { struct slot slot; char pad[64]; } padded;
struct message { union { int number; unsigned char raw[16]; }; char text[8]; } message;
)code");
  EXPECT_EQ(program.fields("padded", 4, 4), "slot.state int");
  EXPECT_EQ(program.fields("padded", 40, 1), "pad[40] char") << "behind the structure";
  EXPECT_EQ(program.fields("message", 0, 4), "number int");
  EXPECT_EQ(program.fields("message", 8, 1), "raw[8] unsigned char");
  EXPECT_EQ(program.fields("message", 18, 1), "text[2] char");
}

const char* const kCppSource = R"code(
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
namespace app {
struct Clock { std::atomic<long> now{0}; };
struct Base { long count = 0; int id = 0; };
struct Left : Base { int extra = 1; };
extern int target;
struct Right { Right() : count(target) {} virtual ~Right() = default; long count; };
struct Both : Base, Right { long own = 2; };
class Plain : public Left {
 public:
  std::array<long, 4> slots{};
  std::unique_ptr<Clock> clock;
  Clock clocks[2];
  static int shared;
  int& reference;
  int&& moved;
  long Base::*member = nullptr;
  void (Base::*method)() = nullptr;
  alignas(64) std::atomic<uint8_t> ready{0};
  Plain(int& to) : reference(to), moved(static_cast<int&&>(to)) {}
};
template <typename T, unsigned long N> struct Pool { T items[N]; struct Inner { T one; } inner; };
struct VirtualLeft : virtual Base { long l = 0; };
struct VirtualRight : virtual Base { long r = 0; };
struct Diamond : VirtualLeft, VirtualRight { long d = 0; };
typedef struct { int x, y; } Point;
using Size = struct { int w, h; };
struct Places { typedef struct { Point at; } Place; Place first; Size size; } places;
namespace { struct Hidden { int h; }; [[gnu::used]] Hidden hidden; }
long local() { struct Local { long a, b; }; [[gnu::used]] static Local kept; return ++kept.a + ++hidden.h; }
int target;
}
using app::target;
app::Plain plain(target);
app::Both both;
app::Pool<app::Clock, 64> pool;
app::Diamond diamond;
)code";

TEST_P(CompiledCpp, ClassesOfCpp) {
  Program program = build("cpp", kCppSource);
  const Type& plain = program.typeOf("plain");
  EXPECT_EQ(plain.kind, Kind::classType);
  EXPECT_EQ(plain.name, "app::Plain");
  EXPECT_EQ(plain.size, 192u);
  EXPECT_EQ(membersText(plain),
            "@0:16 slots@16:32 clock@48:8 clocks@56:16 reference@72:8 moved@80:8 member@88:8 method@96:16 "
            "ready@128:1");
  EXPECT_EQ(plain.members[0].role, Member::Role::base);
  EXPECT_EQ(program.table().nameOf(plain.members[4].type), "int &");
  EXPECT_EQ(program.table().nameOf(plain.members[3].type), "app::Clock[2]");
  EXPECT_EQ(program.typeOf("pool").name, "app::Pool<app::Clock, 64>");
  EXPECT_EQ(program.typeOf("_ZZN3app5localEvE4kept").name, "app::local()::Local");
  EXPECT_EQ(program.typeOf("_ZN3app12_GLOBAL__N_16hiddenE").name, "app::(anonymous namespace)::Hidden");
  const Type& both = program.typeOf("both");
  EXPECT_EQ(both.size, 40u);
  // The class with the vtable pointer comes first.
  EXPECT_EQ(membersText(both), "@0:16 @16:16 own@32:8");
}

TEST_P(CompiledCpp, ATypedefNamesWhatHasNoName) {
  Program program = build("cpp", kCppSource);
  const TypeTable& table = program.table();
  const Type& places = program.typeOf("_ZN3app6placesE");
  const TypeId first = table.strip(places.members[0].type);
  EXPECT_EQ(table.nameOf(first), "app::Places::Place");
  EXPECT_EQ(table.nameOf(table.strip(table[first].members[0].type)), "app::Point");
  EXPECT_EQ(table.nameOf(table.strip(places.members[1].type)), "app::Size");
}

TEST_P(CompiledCpp, FieldsOfClasses) {
  Program program = build("cpp", kCppSource);
  const auto path = [&](const char* symbol, uint64_t offset, uint32_t width) {
    std::string text;
    for (const FieldPath& field : fieldsAt(program.table(), program.variable(symbol), offset, width))
      text += (text.empty() ? "" : " ") + field.path;
    return text;
  };
  EXPECT_EQ(path("plain", 0, 8), "count") << "of the base's base";
  EXPECT_EQ(path("plain", 12, 4), "extra");
  EXPECT_EQ(path("plain", 24, 8), "slots[1]");
  EXPECT_EQ(path("plain", 48, 8), "clock") << "a unique_ptr is no level of its own";
  EXPECT_EQ(path("plain", 64, 8), "clocks[1].now");
  EXPECT_EQ(program.fields("plain", 128, 1).substr(0, 18), "ready std::atomic<");
  EXPECT_EQ(path("both", 0, 8), "_vptr");
  EXPECT_EQ(path("both", 8, 8), "Right::count");
  EXPECT_EQ(path("both", 16, 8), "Base::count");
  EXPECT_EQ(path("both", 24, 4), "id");
  EXPECT_EQ(path("both", 32, 8), "own");
  EXPECT_EQ(path("diamond", 0, 8), "VirtualLeft::_vptr");
  EXPECT_EQ(path("diamond", 16, 8), "VirtualRight::_vptr");
  EXPECT_EQ(path("diamond", 24, 8), "r");
  EXPECT_EQ(path("diamond", 40, 8), "") << "the virtual base lies there, but nothing says so";
  EXPECT_EQ(path("pool", 8 * 63, 8), "items[63].now");
  EXPECT_EQ(path("pool", 8 * 64, 8), "inner.one.now");
}

const char* const kElementsInBytes = R"code(
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <variant>
struct Work { int id = 0; std::list<long> jobs; long done = 0; };
std::_List_node<Work> in_list;
std::_Rb_tree_node<std::pair<const int, Work>> in_map;
std::__detail::_Hash_node<std::pair<const int, Work>, false> in_hash;
std::variant<char, Work> in_variant;
struct Own { unsigned char bytes[8]; } own;
)code";

TEST_P(CompiledCpp, FieldsOfElementsThatContainersKeepInBytes) {
  Program program = build("cpp", kElementsInBytes);
  EXPECT_EQ(program.fields("in_list", 16, 4), "_M_storage.id int");
  EXPECT_EQ(program.fields("in_list", 48, 8).substr(0, 16), "_M_storage.done ");
  EXPECT_EQ(program.fields("in_map", 32 + 8, 4), "_M_storage.second.id int");
  EXPECT_EQ(program.fields("in_hash", 8 + 8, 4), "_M_storage.second.id int");
  EXPECT_EQ(program.fields("in_variant", 32, 8).substr(0, 18), "_M_u._M_rest.done ");
  EXPECT_EQ(program.fields("own", 3, 1), "bytes[3] unsigned char");
}

TEST(Typedefs, ALongChainIsNoLoadForTheStack) {
  const TempDir dir;
  const std::string last = "t6000";
  std::string source = "typedef int t0;\n", name = "t0";
  for (int i = 1; name != last; i++) {
    const std::string next = "t" + std::to_string(i);
    source += "typedef " + name + " " + next + ";\n";
    name = next;
  }
  Program program(dir, "c", source + last + " variable;\n");
  const std::function<void()> ask = [&] {
    EXPECT_EQ(program.table().nameOf(program.variable("variable")), last);
  };
  const auto call = [](void* what) -> void* {
    (*static_cast<const std::function<void()>*>(what))();
    return nullptr;
  };
  pthread_attr_t small;
  ASSERT_EQ(::pthread_attr_init(&small), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&small, 512 * 1024), 0);
  pthread_t thread{};
  ASSERT_EQ(::pthread_create(&thread, &small, call, const_cast<std::function<void()>*>(&ask)), 0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&small);
}

INSTANTIATE_TEST_SUITE_P(Builds, Compiled,
                         testing::Values(Build{"gcc", "-gdwarf-5"}, Build{"gcc", "-gdwarf-4"},
                                         Build{"gcc", "-gdwarf-2 -gstrict-dwarf"},
                                         Build{"gcc", "-gdwarf-4 -fdebug-types-section"},
                                         Build{"gcc", "-gdwarf-5 -fdebug-types-section"},
                                         Build{"clang", "-gdwarf-5"}, Build{"clang", "-gdwarf-4"}));
INSTANTIATE_TEST_SUITE_P(Builds, CompiledCpp,
                         testing::Values(Build{"gcc", "-gdwarf-5"}, Build{"gcc", "-gdwarf-3"},
                                         Build{"gcc", "-gdwarf-4 -fdebug-types-section"},
                                         Build{"gcc", "-gdwarf-5 -fdebug-types-section -O2"},
                                         Build{"gcc", "-gdwarf-5 -gsplit-dwarf"},
                                         Build{"gcc", "-gdwarf-4 -gsplit-dwarf -fdebug-types-section"},
                                         Build{"gcc", "-gdwarf-5 -gsplit-dwarf -fdebug-types-section -O2"},
                                         Build{"clang", "-gdwarf-5 -O1"}, Build{"clang", "-gdwarf-4"},
                                         Build{"clang", "-gdwarf-5 -gsplit-dwarf"}));

}  // namespace
}  // namespace cacheline::types
