// Names of pointers, without what compilers add to them.
#include "inference/pointer_names.h"

#include <gtest/gtest.h>

namespace cacheline::inference {
namespace {

TEST(PointerNames, AreThoseOfTheSourcesFunctions) {
  EXPECT_EQ(localName("work", "sums"), "work::sums");
  EXPECT_EQ(localName("Pool::run", "sums"), "Pool::run::sums");
  EXPECT_EQ(localName("main()::main._omp_fn.0", "sums"), "main::sums");
  EXPECT_EQ(localName("solve.omp_outlined", "sums"), "solve::sums");
  EXPECT_EQ(localName("step.constprop.0.isra.0", "row"), "step::row");
  EXPECT_EQ(localName("main()::(anonymous)::operator()", "__counts"), "main::counts") << "a lambda of gcc";
  EXPECT_EQ(localName("main.work.func1.2", "counts"), "main.work::counts") << "a closure of Go";
  EXPECT_EQ(localName("main.work.function", "counts"), "main.work.function::counts");
  EXPECT_EQ(localName("std::thread::_State_impl<main()::{lambda()#1}>::_M_run", "__counts"), "counts");
}

TEST(PointerNames, AreNumberedApartFromAddresses) {
  const uint64_t local = numberOfPointer("work::sums", true), member = numberOfPointer("state.sums", false);
  EXPECT_TRUE(isNumbered(local) && isNumbered(member));
  EXPECT_TRUE(isLocalPointer(local));
  EXPECT_FALSE(isLocalPointer(member));
  EXPECT_NE(local, numberOfPointer("work::rows", true));
  for (const uint64_t address : {0x404040ull, 0x7fff'ffff'f000ull, 0xffff'ffff'8100'0001ull}) {
    EXPECT_FALSE(isNumbered(address));
    EXPECT_FALSE(isLocalPointer(address));
  }
}

}  // namespace
}  // namespace cacheline::inference
