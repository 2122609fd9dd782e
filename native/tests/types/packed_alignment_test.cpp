// The alignment of packed types, which debug information does not state: the compilers judge that what is
// said to be all of it is, and that none has less.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "types/layout.h"
#include "types_fixture.h"

namespace cacheline::types {
namespace {

using namespace test;

const char* const kPackedSource = R"code(
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64;
#define PACKED __attribute__((packed))
#define ALIGNED(n) __attribute__((aligned(n)))
#pragma pack(push, 1)
struct Pair1 { u32 a; u16 b; };
#pragma pack(2)
struct Pair2 { u32 a; u16 b; };
struct Gap2 { u8 a; u32 b; u16 c; };
struct Bits2 { u8 a; u32 b : 30; u16 c; };
struct Stated2 { u8 a; u64 b ALIGNED(8); u32 c; };
struct ALIGNED(16) Whole2 { u8 a; u64 b; u32 c; };
union Either2 { u8 a[6]; u32 b; };
#pragma pack(4)
struct Event4 { u32 a; u64 b; };
struct Vector4 { u8 a; double b[3]; };
#pragma pack(pop)
struct PACKED Pair { u32 a; u16 b; };
struct PACKED Event { u32 a; u64 b; };
struct PACKED Odd { u8 a; u64 b; u32 c; };
struct PACKED Even { u8 a; u32 b; u16 c; u8 d; };
struct PACKED Whole { u64 a; u8 b; u32 c; u8 d[3]; };
struct OneOf { u64 a; u8 b; u32 c PACKED; u8 d[3]; };
struct OneGap { u8 a; u32 b PACKED; u64 c; };
struct OneTail { u64 a; u8 b; u32 c PACKED; };
struct PACKED Bits { u8 a; u32 b : 30; u16 c; };
struct PACKED Unnamed { u32 a : 4; u32 : 28; u32 b; u64 c; u32 d; };
struct PACKED Reserved { u64 a; u8 b; u32 c; u32 : 24; };
union PACKED Either { u8 a[6]; u32 b; };
struct PACKED ALIGNED(2) Stated { u32 a; u16 b; };
struct PACKED ALIGNED(4) StatedLess { u64 a, b; };
struct PACKED Inside { u8 a; u32 b ALIGNED(2); u64 c; };
struct PACKED InsideFar { u8 a; u64 b; u8 c ALIGNED(8); };
struct PACKED Outer1 { u8 a; struct Pair b; u64 c; };
struct Outer { struct Pair a; u64 b; };
struct OuterEvent { u64 a; struct Event b[2]; u32 c; };
struct OuterOdd { u8 a; struct Pair b; };
struct OuterEven { u8 a; struct Pair2 b; };
struct OuterOpen { u16 a; struct Pair b; };
typedef u64 Word4 ALIGNED(4);
struct Less { u32 a; Word4 b; };
)code";
const char* const kPackedClasses = R"code(
struct Base { u32 a; u16 b; };
struct PACKED Derived : Base { u8 c; u64 d; u8 e; };
struct NotPod { NotPod(); u32 a; private: u16 b; };
struct PACKED HasNotPod { u8 a; NotPod b; u64 c; };
struct Dynamic { virtual void key(); u32 a; };
struct PACKED FromDynamic : Dynamic { u8 b; u64 c; };
struct FromPair : Pair { u8 c; };
NotPod::NotPod() {}
void Dynamic::key() {}
)code";

/// By name, "8" or "1+", where it may be more; of gcc and of clang where that differs: gcc states the
/// alignment that a type has, clang what the source asks for.
const std::map<std::string, std::pair<std::string, std::string>> kPackedTypes = {
    {"Pair1", {"1+", ""}},     {"Pair2", {"1+", ""}},       {"Gap2", {"2", ""}},
    {"Bits2", {"1+", ""}},     {"Stated2", {"2", ""}},      {"Whole2", {"16", ""}},
    {"Either2", {"1+", ""}},   {"Event4", {"1+", ""}},      {"Vector4", {"4", ""}},
    {"Pair", {"1+", ""}},      {"Event", {"1+", ""}},       {"Odd", {"1", ""}},
    {"Even", {"1", ""}},       {"Whole", {"1+", ""}},       {"OneOf", {"1+", ""}},
    {"OneGap", {"1+", ""}},    {"OneTail", {"1+", ""}},     {"Reserved", {"1+", ""}},
    {"Bits", {"1", ""}},       {"Unnamed", {"1+", ""}},     {"Either", {"1+", ""}},
    {"Stated", {"2", ""}},     {"StatedLess", {"4", "4+"}}, {"Inside", {"2", ""}},
    {"InsideFar", {"8", ""}},  {"Outer1", {"1", ""}},       {"Outer", {"8", ""}},
    {"OuterEvent", {"8", ""}}, {"OuterOdd", {"1", ""}},     {"OuterEven", {"2", ""}},
    {"OuterOpen", {"2", ""}},  {"Less", {"4", ""}},         {"Derived", {"1+", ""}},
    {"HasNotPod", {"4", "1"}}, {"FromDynamic", {"1+", ""}}, {"FromPair", {"1", ""}},
};

class PackedAlignment : public testing::TestWithParam<std::string> {};

TEST_P(PackedAlignment, IsNoMoreThanIsKnown) {
  const std::string compiler = GetParam().substr(0, GetParam().find(' ')),
                    flags = GetParam().substr(GetParam().find(' '));
  if (!haveTool(compiler)) GTEST_SKIP() << "needs " << compiler;
  const bool classes = compiler.ends_with("++"), gnu = compiler.starts_with("g");
  std::string source = kPackedSource, uses, judge;
  if (classes) source += kPackedClasses;
  std::vector<std::string> names;
  for (const auto& [name, expected] : kPackedTypes) {
    if (source.find(" " + name + " ") == std::string::npos) continue;
    names.push_back(name);
    uses += (name.starts_with("Either") ? "union " : "struct ") + name + " object" + name + ";\n";
  }
  TempDir dir;
  Program program(dir, classes ? "cpp" : "c", source + uses, flags, compiler);
  for (const std::string& name : names) {
    const std::vector<TypeId> types = program.types().named(name);
    ASSERT_EQ(types.size(), 1u) << name;
    const Layout layout = layoutOf(program.table(), types[0], {});
    const auto& [first, second] = kPackedTypes.at(name);
    EXPECT_EQ(std::to_string(layout.align) + (layout.alignIsLeast ? "+" : ""),
              gnu || second.empty() ? first : second)
        << name;
    judge += "_Static_assert(__alignof__(__typeof__(object" + name + ")) " +
             (layout.alignIsLeast ? ">= " : "== ") + std::to_string(layout.align) + ", \"" + name + "\");\n";
  }
  const std::string file = dir.file(classes ? "judge.cpp" : "judge.c");
  std::ofstream(file) << source << "#ifdef __cplusplus\n#define _Static_assert static_assert\n#endif\n"
                      << uses << judge;
  const auto result = symbols::test::run(compiler + " -w -fsyntax-only " + flags + " " + file + " 2>&1");
  EXPECT_EQ(result.status, 0) << result.output.substr(0, 4000);
}

TEST(PackedBases, HaveAPlaceWhereAllAlignmentsLeadThere) {
  TempDir dir;
  Program program(dir, "cpp",
                  "struct __attribute__((packed)) Pair { int a; short b; };\n"
                  "struct Near : virtual Pair { char c; } near;\n"
                  "struct Far : virtual Pair { short s; } far;\n");
  const auto layout = [&](const char* name) {
    return layoutOf(program.table(), program.types().named(name).at(0), {});
  };
  EXPECT_EQ(layout("Near").unplaced.size(), 1u) << "9, or 10 by #pragma pack(2)";
  const Layout far = layout("Far");
  EXPECT_TRUE(far.unplaced.empty());
  EXPECT_TRUE(std::any_of(far.members.begin(), far.members.end(), [](const LayoutMember& member) {
    return member.role == Member::Role::virtualBase && member.offset == 10;
  }));
}

INSTANTIATE_TEST_SUITE_P(Compilers, PackedAlignment,
                         testing::Values("gcc -gdwarf-5", "g++ -gdwarf-4", "clang -gdwarf-5",
                                         "clang++ -gdwarf-5 -fstandalone-debug"));

}  // namespace
}  // namespace cacheline::types
