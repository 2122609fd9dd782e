// Layouts of programs for 32-bit machines: other pointers, other alignments. The compiler judges sizes,
// alignments and offsets.
#include <gtest/gtest.h>

#include <fstream>

#include "layouts/layout.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using namespace types::test;

const char* const kNarrowSource = R"code(
struct V { virtual void v(); long long x; };
struct D : virtual V { char c; virtual void w(); };
struct Both : D, virtual V { double d; };
struct E { int E::*p; void (E::*q)(); D* r; int& ref; long double l; };
struct Bits { unsigned a : 3; unsigned b : 7; unsigned long long c : 33; char d; };
struct Far { unsigned a : 31, b : 9; unsigned long long c : 33; char d; };
struct Quad { char c; __float128 q; };
struct Wide { char c; long long l __attribute__((aligned(8))); _Complex double z; };
union Either { long long l; double d; char c[9]; };
struct Holds { short s; Either e; double d[2]; };
void V::v() {}
void D::w() {}
)code";
const char* const kNarrowUses =
    "V v; D d; Both both; E* e; Bits bits; Far far; Quad quad; Wide wide; Holds holds;\n";

TEST(ThirtyTwoBits, CompilersAgreeWithOurLayouts) {
  TempDir dir;
  const std::string flags = " -m32 -ffreestanding -fno-rtti -nostdlib -Wl,--unresolved-symbols=ignore-all";
  Program program(dir, "cpp", std::string(kNarrowSource) + kNarrowUses, flags, "g++");
  std::string asserts = kNarrowSource;
  size_t offsets = 0;
  for (const char* name : {"V", "D", "Both", "E", "Bits", "Far", "Quad", "Wide", "Either", "Holds"}) {
    const std::vector<TypeId> types = program.types().named(name);
    ASSERT_EQ(types.size(), 1u) << name;
    const Layout layout = layoutOf(program.table(), types[0], {});
    const std::string type = name;
    asserts += "static_assert(sizeof(" + type + ") == " + std::to_string(layout.size) + ");\n";
    ASSERT_TRUE(layout.align) << name;
    asserts += "static_assert(alignof(" + type + ") == " + std::to_string(*layout.align) + ");\n";
    for (const LayoutMember& member : layout.members) {
      if (member.role != Member::Role::field || member.bitSize != 0 || member.type.ends_with("&")) continue;
      asserts += "static_assert(__builtin_offsetof(" + type + ", " + member.name +
                 ") == " + std::to_string(member.offset) + ");\n";
      offsets++;
    }
  }
  EXPECT_EQ(offsets, 20u);
  const std::string judge = dir.file("judge.cpp");
  std::ofstream(judge) << asserts;
  const auto result = symbols::test::run("g++ -w -fsyntax-only" + flags + " " + judge + " 2>&1");
  EXPECT_EQ(result.status, 0) << result.output.substr(0, 4000);
}

}  // namespace
}  // namespace cacheline::layouts
