// Functions in which what holds at a place is known only after many rounds through their code.
#include <gtest/gtest.h>

#include "fixture.h"
#include "inference/live_variables.h"

namespace cacheline::inference::test {
namespace {

using namespace types;
using namespace layouts;
using symbols::test::compile;
using symbols::test::TempDir;

constexpr int kCases = 240;  // each may be followed by each: 57,600 ways from block to block

/// An interpreter: each case jumps to any. One case puts another pointer into r8, which then comes to the
/// last of `places` one by one, about two in a round through all cases; there it is accessed.
std::string interpreter(const std::vector<std::string>& places, const std::string& put) {
  const auto goOn = [] {
    return std::string("  movzbl (%rdi), %eax\\n  inc %rdi\\n  jmp *cases(,%rax,8)\\n");
  };
  std::vector<std::string> bodies(kCases);
  for (size_t i = 0; i + 1 < places.size(); i++)
    bodies[places.size() - i] = "  mov " + places[i] + ", %rcx\\n  mov %rcx, " + places[i + 1] + "\\n";
  bodies[0] = "  mov " + places.back() + ", %rcx\\n  .globl hit\\nhit: incq 8(%rcx)\\n";
  bodies[kCases - 1] = "  mov " + put + "(%rip), %r8\\n";
  std::string code = "sub $1024, %rsp\\n  mov slots(%rip), %r8\\n";
  for (const std::string& place : places) code += "  mov %r8, " + place + "\\n";
  code += goOn();
  std::string table = ".pushsection .rodata\\ncases:\\n";
  for (int i = 0; i < kCases; i++) {
    const std::string label = ".Lcase" + std::to_string(i);
    code += label + ":\\n" + bodies[i] + goOn();
    table += "  .quad " + label + "\\n";
  }
  return "struct slot { long hits, misses; }; struct other { long sum[9]; };\n"
         "struct slot* slots; struct other* others;\n"
         "__attribute__((naked)) void interpret(const char* code) { __asm__(\"" +
         code + table + ".popsection\\n\"); }\nint main() { interpret(0); return slots != (void*)others; }\n";
}

struct Answer {
  std::string type;
  bool tooLong = false;
};
Answer answerOf(const std::string& source) {
  const TempDir dir;
  const auto module =
      symbols::Module::open(compile(dir, "interpreter", "c", source, "-g -O1 -fno-pie -no-pie"), "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  Doubt doubt;
  const auto operand = live.operandType(module->image()->addressOfSymbol("hit").value(), &doubt);
  return {operand ? types.table().nameOf(operand->type) : "", doubt.tooLong};
}

const std::vector<std::string> kFew = {"%r8", "%r9", "%r10", "%r11", "%rbx", "%rdx", "%rsi"};

TEST(LiveFixedPoint, WhatHoldsOnAllWaysIsSaid) {
  const Answer answer = answerOf(interpreter(kFew, "slots"));
  EXPECT_EQ(answer.type, "slot");
  EXPECT_FALSE(answer.tooLong);
}

TEST(LiveFixedPoint, WhatHoldsOnTheFirstWaysAloneIsNot) {
  const Answer answer = answerOf(interpreter(kFew, "others"));
  EXPECT_EQ(answer.type, "");
  EXPECT_FALSE(answer.tooLong);
}

TEST(LiveFixedPoint, AFunctionThatIsNotFollowedToTheEndHasNoAnswer) {
  std::vector<std::string> many = kFew;
  for (int slot = 0; slot < 24; slot++) many.push_back(std::to_string(8 * slot) + "(%rsp)");
  const Answer answer = answerOf(interpreter(many, "others"));
  EXPECT_EQ(answer.type, "");
  EXPECT_TRUE(answer.tooLong);
}

}  // namespace
}  // namespace cacheline::inference::test
