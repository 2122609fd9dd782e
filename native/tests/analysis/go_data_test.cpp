// Variables of a Go program behind what its file backs: the kernel takes that memory for a heap.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "scenario.h"

namespace cacheline::analysis {
namespace {

using namespace test;

/// The function is `incq big+OFFSET(%rip); ret`: samples arrive at `ret`.
constexpr const char* kGoSource = R"go(package main

var big [1 << 17]int64

//go:noinline
func bump() { big[1<<16]++ }
func main() { bump() }
)go";

TEST(GoData, AGlobalBehindTheFilesPagesIsTheProgramsAndNotOfAHeap) {
  if (std::system("go version > /dev/null 2>&1") != 0) GTEST_SKIP() << "needs go: apt-get install golang";
  const perfdata::testing::TempFolder folder;
  std::ofstream(folder / "main.go") << kGoSource;
  const std::string path = folder / "program";
  const std::string build =
      "cd " + std::string(folder / "") + " && GO111MODULE=off GOFLAGS= go build -o program main.go";
  ASSERT_EQ(std::system(build.c_str()), 0);
  const auto image = symbols::ElfImage::open(path);
  const uint64_t bump = image->addressOfSymbol("main.bump").value();
  const uint64_t big = image->addressOfSymbol("main.big").value();
  const auto code = image->bytesAt(bump, 8);
  ASSERT_EQ(code.size(), 8u);
  ASSERT_EQ(code[7], 0xc3) << "the compiler makes the function otherwise";
  // Kernels call it either.
  for (const char* name : {"//anon", "[heap]"}) {
    SCOPED_TRACE(name);
    Scenario s;
    s.startFile(100, path);
    s.anonymous(100, (big + 0xfff) / 0x1000 * 0x1000, (1 << 20) + 0x2000, name);
    s.thread(100, 101);
    for (int i = 0; i < 20; ++i) s.sample(100, 100 + i % 2, bump + 7, {});
    const Report report = s.report();
    const Line* line = lineAt(report, (big + (8 << 16)) / 64 * 64);
    ASSERT_NE(line, nullptr);
    EXPECT_EQ(line->mapping, path);
    ASSERT_EQ(line->accesses.size(), 1u);
    const DataName& data = line->accesses[0].data;
    EXPECT_EQ(data.object, "main.big");
    EXPECT_EQ(data.offset, 8u << 16);
    EXPECT_EQ(data.how, How::global);
  }
}

}  // namespace
}  // namespace cacheline::analysis
