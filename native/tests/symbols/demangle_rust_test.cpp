// demangle() over symbols of Rust's v0 mangling: each production, damaged names, and all of rustc's std.
#include <gtest/gtest.h>

#include <sstream>

#include "fixture.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;

TEST(DemangleRustV0, Paths) {
  EXPECT_EQ(
      demangle(
          "_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner15try_allocate_inCsduwmD7cSIQq_5gimli"),
      "<alloc::raw_vec::RawVecInner>::try_allocate_in");
  EXPECT_EQ(demangle("_RNvYNtC1a1TNtC1b2Tr1f"), "<a::T as b::Tr>::f");
  EXPECT_EQ(demangle("_RNvXs_C1aNtB4_1TNtC1b2Tr1f"), "<a::T as b::Tr>::f");
  EXPECT_EQ(demangle("_RNCNCNvC1a1f00B5_"), "a::f::{closure#0}::{closure#0}");
  EXPECT_EQ(demangle("_RNCNvC1a1fs_0.llvm.123"), "a::f::{closure#1}");
  EXPECT_EQ(demangle("_RNSNvC1a1f6vtableB4_"), "a::f::{shim:vtable#0}");
}

TEST(DemangleRustV0, Types) {
  EXPECT_EQ(demangle("_RINvC1a1fFG0_QL1_Ahj4_RL0_SsEuDNtC1a2TrEL_FUKCPaOdvEzE"),
            "a::f::<for<'a, 'b> fn(&'a mut [u8; 4], &'b [i16]), dyn a::Tr, unsafe extern \"C\" fn(*const i8, "
            "*mut f64, ...) -> !>");
  EXPECT_EQ(demangle("_RINvC1a1fDINtC1b2FnThEEp6OutputuNtC1b4SendEL_TEThEE"),
            "a::f::<dyn b::Fn<(u8,), Output = ()> + b::Send, (), (u8,)>");
  EXPECT_EQ(demangle("_RINvC1a1fWmRm1_m9_L_E"), "a::f::<u32 is 1..=9, '_>");
}

TEST(DemangleRustV0, Constants) {
  EXPECT_EQ(demangle("_RINvC1a1fKj8_Kb1_Kan5_Kc27_KpKRe6122_E"), R"(a::f::<8, true, -5, '\'', _, "a\"">)");
  EXPECT_EQ(demangle("_RINvC1a1fKo100000000000000000_E"), "a::f::<0x100000000000000000>");
  EXPECT_EQ(demangle("_RINvC1a1fKVNtC1a1PS1xl1_1yTl2_l3_EEE"), "a::f::<{a::P { x: 1, y: (2, 3) }}>");
  EXPECT_EQ(demangle("_RINvC1a1fKVNtC1a1PTl1_RAl1_l2_EEKVNtC1a1PUE"), "a::f::<{a::P(1, &[1, 2])}, {a::P}>");
}

TEST(DemangleRustV0, IdentifiersThatAreNotAscii) {
  EXPECT_EQ(demangle("_RNvC1au8gdel_5qa"), "a::g\u00f6del");
  EXPECT_EQ(demangle("_RNvC1au3_999"), "a::punycode{999}") << "not Punycode";
}

TEST(DemangleRustV0, DamagedNamesAreReturnedAsTheyAre) {
  for (const char* name : {"_R",
                           "_RN",
                           "_RNv",
                           "_RNvC1a",
                           "_RC",
                           "_R0NvC1a1f",
                           "_RNvC9a1f",
                           "_RNvC99999999999999999999a1f",
                           "_RNvC1a1f!",
                           "_RNvC1a2f\xc3\xb6",
                           "_RNvB_1f",
                           "_RNvBz_1f",
                           "_RNvCszzzzzzzzzzzzz_1a1f",
                           "_RINvC1a1fRL0_hE",
                           "_RINvC1a1fKb2_E",
                           "_RINvC1a1fKcd800_E",
                           "_RINvC1a1fKRe616_E",
                           "_RINvC1a1fDNtC1a1TEE",
                           "_RINvC1a1fTuE",
                           "_RINvC1a1fFGzzzzzz_EuE",
                           "_ReadBarrier"})
    EXPECT_EQ(demangle(name), name);
  const std::string deep = "_RINvC1a1f" + std::string(15000, 'R') + "uE";
  EXPECT_EQ(demangle(deep), deep);
}

TEST(DemangleRustV0, ANameThatStandsForMegabytesIsLeftAsItIs) {
  // Each argument is a pair of the one before.
  const std::string digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const auto base62 = [&](size_t value) {
    std::string text;
    for (value--; value > 0 || text.empty(); value /= 62) text.insert(0, 1, digits[value % 62]);
    return 'B' + text + '_';
  };
  std::string hostile = "INvC1a1f";
  size_t last = hostile.size();
  hostile += "TuuE";
  for (int i = 0; i < 60; i++) {
    const size_t here = hostile.size();
    hostile += 'T' + base62(last) + base62(last) + 'E';
    last = here;
    if (i == 2) {
      EXPECT_EQ(demangle("_R" + hostile + 'E').substr(0, 29), "a::f::<((), ()), (((), ()), (");
    }
  }
  hostile = "_R" + hostile + 'E';
  EXPECT_EQ(demangle(hostile), hostile);
}

TEST(DemangleRustV0, AgreesWithBinutilsOnTheStandardLibrary) {
  NEED_TOOL("rustc", "rustc");
  NEED_TOOL("c++filt", "binutils");
  const TempDir dir;
  mustRun(
      "nm $(rustc --print sysroot)/lib/rustlib/*/lib/libstd-*.so | sed -n 's/.* \\(_R.*\\)/\\1/p' | sort -u "
      "> " +
      dir.file("names"));
  // It prints the hashes of crates and the types of constants.
  std::istringstream names(readFile(dir.file("names")));
  std::istringstream judge(mustRun(
      "c++filt < " + dir.file("names") +
      R"( | sed -E 's/(\w)\[[0-9a-f]{1,16}\]/\1/g; s/: ([iu](8|16|32|64|128|size)|bool|char)([],>])/\3/g; s/( \(|\.)\.?llvm.*//')"));
  size_t judged = 0;
  for (std::string name, readable; std::getline(names, name) && std::getline(judge, readable); judged++)
    EXPECT_EQ(demangle(name), readable) << name;
  if (judged == 0) GTEST_SKIP() << "this std has no v0 symbols";
  EXPECT_GT(judged, 1000u);
}

}  // namespace
}  // namespace cacheline::symbols
