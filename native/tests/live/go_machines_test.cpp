// Symbols, variables and lines of programs of other machines, by the compiler that builds for all. `nm`
// judges.
#include <elf.h>
#include <gtest/gtest.h>

#include <sstream>

#include "fixture.h"
#include "symbols/inspect.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;

/// Go builds for every machine without a cross compiler.
class GoMachine : public testing::TestWithParam<std::pair<const char*, uint16_t>> {};

TEST_P(GoMachine, SymbolsVariablesAndLines) {
  NEED_TOOL("go", "golang-go");
  NEED_TOOL("nm", "binutils");
  TempDir dir;
  const std::string source = R"go(package main

var counters [4]int32

//go:noinline
func work(i int) int32 {
	counters[i&3]++ // @count
	return counters[0]
}

func main() { println(work(2)) }
)go";
  writeFile(dir.file("main.go"), source);
  const CommandResult built =
      run("cd " + dir.path() + " && HOME=" + dir.path() + " GOFLAGS=-mod=mod GOCACHE=" + dir.file("cache") +
          " GO111MODULE=off GOOS=linux GOARCH=" + GetParam().first + " go build -o prog main.go 2>&1");
  ASSERT_EQ(built.status, 0) << built.output;
  const std::string binary = dir.file("prog");
  expectSymbolsOfNm(binary, 100);
  const auto module = Module::open(binary, "");
  ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
  const ElfImage& image = *module->image();
  EXPECT_EQ(image.machine(), GetParam().second);
  const Symbol* work = image.functionAt(image.addressOfSymbol("main.work").value_or(0));
  ASSERT_NE(work, nullptr);
  bool counted = false;
  for (uint64_t a = work->address; a < work->address + work->size; a++) {
    const auto frames = module->framesAt(a);
    ASSERT_FALSE(frames.empty());
    EXPECT_EQ(frames.back().function, "main.work");
    EXPECT_EQ(frames.back().file, dir.file("main.go"));
    counted |= frames.back().line == lineOf(source, "count");
  }
  EXPECT_TRUE(counted);
  const auto counters = module->variableAt(image.addressOfSymbol("main.counters").value_or(0) + 15);
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->name, "main.counters");
  EXPECT_EQ(counters->size, 16u);
}
INSTANTIATE_TEST_SUITE_P(Machines, GoMachine,
                         testing::Values(std::pair{"ppc64", uint16_t{EM_PPC64}},
                                         std::pair{"mips", uint16_t{EM_MIPS}},
                                         std::pair{"arm64", uint16_t{EM_AARCH64}}),
                         [](const auto& machine) { return std::string(machine.param.first); });

}  // namespace
}  // namespace cacheline::symbols
