// demangle() over C++ and Rust names, and names that are neither.
#include <gtest/gtest.h>

#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

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

}  // namespace
}  // namespace cacheline::symbols
