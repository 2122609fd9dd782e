// Rules of the call frame information, in whatever order they are asked for.
#include "inference/frame_base.h"

#include <gtest/gtest.h>

#include "types_fixture.h"

namespace cacheline::inference::test {
namespace {

using namespace types;
using namespace types::test;

// The function goes on behind its epilogue.
constexpr const char* kEarlyReturn = R"(
int answer = 42;
asm(".globl early, in_epilogue, behind\n"
    ".type early, @function; .type in_epilogue, @function; .type behind, @function\n"
    "early:\n"
    "  .cfi_startproc\n"
    "  sub $24, %rsp\n"
    "  .cfi_def_cfa_offset 32\n"
    "  .cfi_remember_state\n"
    "  add $24, %rsp\n"
    "  .cfi_def_cfa_offset 8\n"
    "in_epilogue:\n"
    "  ret\n"
    "  .cfi_restore_state\n"
    "behind:\n"
    "  nop\n"
    "  .cfi_endproc\n");
)";

TEST(CallFrames, AnEpilogueInTheMiddleOfAFunction) {
#ifndef __x86_64__
  GTEST_SKIP() << "the program is written in x86-64 assembly";
#endif
  const TempDir dir;
  Program program(dir, "c", kEarlyReturn);
  CallFrames frames(program.module());
  const auto offsetAt = [&](const char* symbol) {
    const Expression* cfa = frames.cfaAt(program.module().image()->addressOfSymbol(symbol).value_or(0));
    return cfa != nullptr ? linearForm(*cfa, nullptr, nullptr).value_or(Linear{}).offset : 0;
  };
  EXPECT_EQ(offsetAt("behind"), 32);
  EXPECT_EQ(offsetAt("in_epilogue"), 8);
}

}  // namespace
}  // namespace cacheline::inference::test
