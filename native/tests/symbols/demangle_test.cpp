// demangle() over C++ and Rust names, and names that are neither.
#include <cxxabi.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "fixture.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;

TEST(Demangle, Cpp) {
  EXPECT_EQ(demangle("_Z4bumpP7Counter"), "bump(Counter*)");
  EXPECT_EQ(demangle("_ZN2ns5Class2fnEv"), "ns::Class::fn()");
  EXPECT_EQ(demangle("_ZZ1fvE7counter"), "f()::counter");
  EXPECT_EQ(demangle("_ZN12_GLOBAL__N_11xE"), "(anonymous namespace)::x");
  EXPECT_EQ(demangle("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
  EXPECT_EQ(demangle("_Z3foov.constprop.0"), "foo() [clone .constprop.0]");
}

TEST(Demangle, LegacyRust) {
  EXPECT_EQ(demangle("_ZN4core4sync6atomic9AtomicU649fetch_add17h0123456789abcdefE"),
            "core::sync::atomic::AtomicU64::fetch_add");
  EXPECT_EQ(
      demangle("_ZN60_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$4drop17h0123456789abcdefE"),
      "<alloc::vec::Vec<T> as core::ops::Drop>::drop");
  EXPECT_EQ(demangle("_ZN4main8COUNTERS17h0a1b2c3d4e5f6789E.llvm.123"), "main::COUNTERS");
  EXPECT_EQ(demangle("_ZN3foo17h0000000000000000E"), "foo::h0000000000000000") << "no hash: a C++ name";
}

TEST(Demangle, OtherNamesAreReturnedAsTheyAre) {
  for (const char* name :
       {"", "main", "_Z", "_ZN", "main.(*T).Method", "_ZN99999999999999999999x17h0123456789abcdefE",
        "__libc_start_main", "_ZN3foo17h0123456789abcdef"})
    EXPECT_EQ(demangle(name), name);
  const std::string huge = "_Z" + std::string(1 << 20, 'P');
  EXPECT_EQ(demangle(huge), huge);
  EXPECT_EQ(demangle("_Z1f" + std::string(15000, 'P')).substr(0, 2), "_Z") << "deep nesting is bounded";
}

TEST(Demangle, ANameThatStandsForMegabytesIsLeftAsItIs) {
  // Each type is a template of the one before, twice: 191 bytes for 9 MB, and two more for each doubling.
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string hostile = "_Z1f1AIiiE";
  for (char digit : digits) hostile += std::string("S_IS") + digit + "_S" + digit + "_E";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(demangle(hostile), hostile);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  // The same in an expression.
  std::string expression = "_Z1fIXstiEE1AIiiE";
  for (char digit : digits) expression += std::string("S_IS") + digit + "_S" + digit + "_E";
  EXPECT_EQ(demangle(expression), expression);
}

TEST(Demangle, APackExpandedWithinItselfIsLeftAsItIs) {
  // Three levels of 300 elements each: 333 bytes for 216 MB.
  const std::string hostile = "_Z1fIJ" + std::string(300, 'i') + "EEvDp1AIT_Dp1BIT_Dp1CIT_EEE";
  EXPECT_EQ(demangle(hostile), hostile);
  EXPECT_EQ(demangle("_Z1fIJilEEvDp1AIT_E"), "void f<int, long>(A<int>, A<long>)");
}

TEST(Demangle, RealNamesAreReadable) {
  NEED_TOOL("nm", "binutils");
  std::istringstream names(mustRun("nm -D --defined-only $(" CACHELINE_TEST_CXX
                                   " -print-file-name=libstdc++.so.6); nm /proc/" +
                                   std::to_string(::getpid()) + "/exe"));
  size_t judged = 0, refused = 0;
  for (std::string line; std::getline(names, line);) {
    const std::string name = line.substr(line.rfind(' ') + 1, line.find('@') - line.rfind(' ') - 1);
    if (!name.starts_with("_Z")) continue;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> readable(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    if (status != 0) continue;
    judged++;
    refused += demangle(name) == name;
  }
  EXPECT_GT(judged, 5000u);
  // Unoptimised, this program has a function for each of GoogleTest's templates of many arguments.
  EXPECT_LT(refused * 100, judged) << refused << " of " << judged;
}

}  // namespace
}  // namespace cacheline::symbols
