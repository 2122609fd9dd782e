// Smaller parts: meta.json, CPU lists, thread names, the sharing table, plans without symbols.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "analysis/attribution.h"
#include "analysis/cpu_nodes.h"
#include "analysis/recording.h"
#include "scenario.h"

namespace cacheline::analysis {
namespace {

TEST(Meta, ReadsWhatTheAnalysisNeeds) {
  const Meta meta = parseMeta(
      R"({"collector":"clock","machine":{"lineSize":128},"binaries":[{"path":"/a","buildId":"ff","size":10,"mtimeNs":"12"},
         {"path":"/b"},7]})");
  EXPECT_EQ(meta.collector, "clock");
  EXPECT_EQ(meta.lineSize, 128u);
  ASSERT_NE(meta.find("/a"), nullptr);
  EXPECT_EQ(meta.find("/a")->size, 10u);
  EXPECT_EQ(meta.find("/a")->mtimeNs, 12);
  EXPECT_EQ(meta.find("/b"), nullptr);
  EXPECT_TRUE(meta.warnings.empty());
}

TEST(Meta, WhatCannotBeIsAWarning) {
  for (const char* json : {"", "{", "[]", "{\"a\":\"\xff\"}"}) {
    const Meta meta = parseMeta(json);
    EXPECT_TRUE(meta.json.empty());
    EXPECT_EQ(meta.warnings.size(), 1u) << json;
    EXPECT_EQ(meta.lineSize, 64u);
  }
  for (const char* json : {R"({"machine":{"lineSize":48}})", R"({"machine":{"lineSize":0}})",
                           R"({"machine":{"lineSize":4096}})"}) {
    const Meta meta = parseMeta(json);
    EXPECT_EQ(meta.lineSize, 64u);
    EXPECT_EQ(meta.warnings.size(), 1u) << json;
  }
  const std::string deep(100000, '[');
  EXPECT_EQ(parseMeta(deep).warnings.size(), 1u);
}

TEST(CpuList, ParsesRangesAndLeavesOutNonsense) {
  EXPECT_EQ(parseCpuList("0-3,8"), (std::vector<uint32_t>{0, 1, 2, 3, 8}));
  EXPECT_EQ(parseCpuList(""), std::vector<uint32_t>{});
  EXPECT_EQ(parseCpuList("x,5,0-4000000000,3-,2-1,9z"), std::vector<uint32_t>{5});
}

TEST(CpuNodes, TheOnlyNodeHoldsAllCpus) {
  const CpuNodes one({{3, 0, 0, "0-1"}});
  EXPECT_EQ(one.only(), 3u);
  EXPECT_EQ(one.of(99), 3u);
  const CpuNodes two({{0, 0, 0, "0-1"}, {1, 0, 0, "2"}});
  EXPECT_FALSE(two.only());
  EXPECT_EQ(two.of(2), 1u);
  EXPECT_FALSE(two.of(3));
  EXPECT_FALSE(CpuNodes({}).of(0));
}

/// In a stripped binary every sampled instruction of the known program gives the plan its symbols give.
TEST(PlanAt, SweepsWithoutSymbolsAgreeWithSymbols) {
  const auto image = symbols::ElfImage::open(test::program());
  const perfdata::testing::TempFolder folder;
  const std::string path = folder / "stripped";
  ASSERT_EQ(std::system(("strip -o " + path + " " + test::program()).c_str()), 0);
  const auto stripped = symbols::ElfImage::open(path);
  ASSERT_EQ(stripped->functionAt(test::kStore), nullptr);
  int compared = 0;
  for (const uint64_t ip : {test::kLoad, test::kLoad + 3, test::kStore, test::kStore + 4, test::kLoadBss,
                            test::kTls, test::kClobbered, test::kNoOperand}) {
    const decode::AccessPlan known = planAt(*image, ip);
    const decode::AccessPlan found = planAt(*stripped, ip);
    ASSERT_NE(known.failure, decode::Failure::noInstruction) << std::hex << ip;
    if (found.failure == decode::Failure::noInstruction) continue;
    EXPECT_EQ(found.failure, known.failure) << std::hex << ip;
    EXPECT_EQ(found.codeAddress, known.codeAddress) << std::hex << ip;
    EXPECT_EQ(found.operand.displacement, known.operand.displacement);
    ++compared;
  }
  EXPECT_GE(compared, 6);
}

/// How much of its code is swept depends on the instruction: what is kept of one is not enough for the next.
TEST(PlanAt, KeepsSweepsOfFunctionsOfUnknownSizeApart) {
  const perfdata::testing::TempFolder folder;
  const std::string path = folder / "unsized";
  std::ofstream(path + ".s") << ".globl _start\n.type _start, @function\n_start:\n.rept 200\nmov (%rax), "
                                "%rbx\nadd $1, %rcx\n.endr\nret\n";
  ASSERT_EQ(std::system(("cc -nostdlib -static -o " + path + " " + path + ".s").c_str()), 0);
  const auto image = symbols::ElfImage::open(path);
  const auto text = image->section(".text");
  ASSERT_TRUE(text && image->functionAt(text->address) != nullptr);
  ASSERT_EQ(image->functionAt(text->address)->size, 0u);
  Sweeps sweeps;
  for (const uint64_t pair : {1, 150, 2, 199}) {
    const uint64_t load = text->address + pair * 7;
    EXPECT_EQ(planAt(*image, load + 3, sweeps).codeAddress, load) << pair;
  }
}

/// Symbols may lie on each other, so that a small binary has much code.
TEST(PlanAt, KeepsSweepsOfSoManyFunctionsOnly) {
  constexpr uint64_t kFunctions = 9000, kBytes = 7;
  const perfdata::testing::TempFolder folder;
  const std::string path = folder / "many";
  std::ofstream(path + ".s") << ".altmacro\n.macro one n\n.type f\\n, @function\nf\\n: mov (%rax), %rbx\n"
                                "add $1, %ecx\nret\n.size f\\n, 7\n.endm\n.globl _start\n_start:\n"
                                ".set i, 0\n.rept "
                             << kFunctions << "\none %i\n.set i, i + 1\n.endr\n";
  ASSERT_EQ(std::system(("cc -nostdlib -static -o " + path + " " + path + ".s").c_str()), 0);
  const auto image = symbols::ElfImage::open(path);
  const auto text = image->section(".text");
  ASSERT_TRUE(text);
  Sweeps sweeps;
  size_t most = 0;
  for (const uint64_t at : {3, 6})
    for (uint64_t i = 0; i < kFunctions; i++) {
      const uint64_t load = text->address + i * kBytes;
      ASSERT_EQ(planAt(*image, load + at, sweeps).codeAddress, load) << i;
      most = std::max(most, sweeps.size());
    }
  EXPECT_GT(most, 1u);
  EXPECT_LT(most, kFunctions / 2);
}

TEST(PlanAt, AnAddressOutsideEveryInstructionIsNone) {
  const auto image = symbols::ElfImage::open(test::program());
  EXPECT_EQ(planAt(*image, 0x10).failure, decode::Failure::noInstruction);
  EXPECT_EQ(planAt(*image, ~uint64_t{0}).failure, decode::Failure::noInstruction);
  EXPECT_EQ(planAt(*image, test::kData).failure, decode::Failure::noInstruction);
}

}  // namespace
}  // namespace cacheline::analysis
