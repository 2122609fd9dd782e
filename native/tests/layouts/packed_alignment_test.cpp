// The alignment of packed types, which debug information does not state: the compilers judge what is said to
// be known.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <regex>

#include "layouts/layout.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using namespace types::test;

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
struct Natural { u8 a; u64 b; u32 c; };
struct NaturalOuter { u16 a; struct Natural b[2]; };
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

/// Those that lie as if they were not packed, or whose alignment is stated.
const std::map<std::string, uint64_t> kKnown = {{"Less", 4}, {"Natural", 8}, {"NaturalOuter", 8}};
/// Those whose members or size show that something is packed, and what has them inside.
const std::vector<std::string> kShown = {"Pair1", "Pair", "Event", "Odd",      "Even",      "Either",
                                         "OneOf", "Bits", "Outer", "OuterOdd", "OuterOpen", "OneGap"};

class PackedAlignment : public testing::TestWithParam<std::string> {};

TEST_P(PackedAlignment, IsTheOneThatCompilersGiveOrNotKnown) {
  const std::string compiler = GetParam().substr(0, GetParam().find(' ')),
                    flags = GetParam().substr(GetParam().find(' '));
  if (!haveTool(compiler)) GTEST_SKIP() << "needs " << compiler;
  const bool classes = compiler.ends_with("++");
  std::string source = kPackedSource, uses, judge;
  if (classes) source += kPackedClasses;
  std::vector<std::string> names;
  const std::regex definition("(struct|union) [^;{]*?(\\w+) (: \\w+ )?\\{");
  for (std::sregex_iterator at(source.begin(), source.end(), definition), end; at != end; ++at) {
    names.push_back((*at)[2]);
    uses += (*at)[1].str() + " " + names.back() + " object" + names.back() + ";\n";
  }
  TempDir dir;
  Program program(dir, classes ? "cpp" : "c", source + uses, flags, compiler);
  std::map<std::string, std::optional<uint64_t>> alignments;
  for (const std::string& name : names) {
    const std::vector<TypeId> types = program.types().named(name);
    ASSERT_EQ(types.size(), 1u) << name;
    const auto alignment = alignments[name] = layoutOf(program.table(), types[0], {}).align;
    if (alignment)
      judge += "_Static_assert(__alignof__(__typeof__(object" + name + ")) == " + std::to_string(*alignment) +
               ", \"" + name + "\");\n";
  }
  for (const auto& [name, alignment] : kKnown) EXPECT_EQ(alignments[name], alignment) << name;
  for (const std::string& name : kShown) EXPECT_EQ(alignments[name], std::nullopt) << name;
  const std::string file = dir.file(classes ? "judge.cpp" : "judge.c");
  std::ofstream(file) << source << "#ifdef __cplusplus\n#define _Static_assert static_assert\n#endif\n"
                      << uses << judge;
  const auto result = symbols::test::run(compiler + " -w -fsyntax-only " + flags + " " + file + " 2>&1");
  EXPECT_EQ(result.status, 0) << result.output.substr(0, 4000);
}

INSTANTIATE_TEST_SUITE_P(Compilers, PackedAlignment,
                         testing::Values("gcc -gdwarf-5", "g++ -gdwarf-4", "clang -gdwarf-5",
                                         "clang++ -gdwarf-5 -fstandalone-debug"));

}  // namespace
}  // namespace cacheline::layouts
