// Instructions as perf and objdump write them.
#include "decode/instruction_text.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace cacheline::decode {
namespace {

InstructionText textAt0x401000(std::initializer_list<uint8_t> bytes) {
  return instructionText(std::vector<uint8_t>(bytes), 0x401000);
}

TEST(InstructionText, SaysWidthsAndWholeAddresses) {
  EXPECT_EQ(textAt0x401000({0xf0, 0x48, 0xff, 0x05, 0x11, 0x22, 0, 0}).text, "lock incq 0x403219");
  EXPECT_EQ(textAt0x401000({0xf0, 0x48, 0x83, 0x04, 0x24, 0x01}).text, "lock addq $0x1, (%rsp)");
  EXPECT_EQ(textAt0x401000({0x48, 0x89, 0x44, 0xcb, 0xf8}).text, "movq %rax, -0x8(%rbx,%rcx,8)");
  EXPECT_EQ(textAt0x401000({0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}).text, "movq %fs:0x28, %rax");
  EXPECT_EQ(textAt0x401000({0xf3, 0x90, 0x90}).text, "pause");
  EXPECT_EQ(textAt0x401000({0xf3, 0x90, 0x90}).length, 2u);
}

TEST(InstructionText, NamesTargetsOfDirectJumpsAlone) {
  const InstructionText call = textAt0x401000({0xe8, 1, 0, 0, 0}), back = textAt0x401000({0x75, 0xf0});
  EXPECT_EQ(call.text, "call 0x401006");
  EXPECT_EQ(call.target, 0x401006u);
  EXPECT_EQ(back.text, "jnz 0x400ff2");
  EXPECT_EQ(back.target, 0x400ff2u);
  EXPECT_FALSE(textAt0x401000({0xff, 0xd0}).target) << "call *%rax";
}

TEST(InstructionText, TakesWhatIsNoInstructionAsOneByte) {
  for (const auto& bytes : {std::vector<uint8_t>{0x06}, {0xe8, 1, 0}, {0x0f}}) {
    const InstructionText text = instructionText(bytes, 0);
    EXPECT_EQ(text.length, 1u);
    EXPECT_TRUE(text.text.starts_with(".byte 0x")) << text.text;
  }
  EXPECT_EQ(textAt0x401000({0x06}).text, ".byte 0x06");
}

}  // namespace
}  // namespace cacheline::decode
