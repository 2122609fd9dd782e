// Joins of control flow: the locked access right before them, and the jumps that lead there.
#include "decode/join.h"

#include <gtest/gtest.h>

#include "tests/decode/code_bytes.h"

namespace cacheline::decode {
namespace {

constexpr uint64_t kCode = 0x401000;

std::optional<Join> joinIn(std::string_view hex, uint64_t ip) {
  const std::vector<uint8_t> code = fromHex(hex);
  return planJoin(code, kCode, kCode + ip);
}

std::string describe(const std::vector<Demand>& demands) {
  std::string text;
  for (const Demand& demand : demands)
    text += std::string(demand.comparison.test ? "test " : "cmp ") + registerName(demand.comparison.left) +
            " " + std::to_string(demand.condition) + (demand.taken ? " taken; " : " not taken; ");
  return text;
}

TEST(Joins, OneArmOfAnIf) {
  // 0: test edi, edi; 2: je 8; 4: lock inc qword ptr [rsi]; 8: inc rax; b: ret
  const auto join = joinIn("85 ff 74 04 f0 48 ff 06 48 ff c0 c3", 8);
  ASSERT_TRUE(join);
  EXPECT_EQ(describe(join->before),
            describe(AccessPlan{
                Failure::none, kCode + 4, 1, {0, 8, kRegSi, kRegNone, 1, AccessKind::readWrite, true}}));
  EXPECT_EQ(join->from, kCode + 4);
  ASSERT_EQ(join->jumps.size(), 1u);
  const Jump& jump = join->jumps[0];
  EXPECT_EQ(jump.from, kCode);
  EXPECT_EQ(jump.at, kCode + 2);
  EXPECT_EQ(jump.condition, 4) << "equal";
  EXPECT_TRUE(jump.skips);
  EXPECT_FALSE(jump.locked);
  EXPECT_EQ(describe(jump.demands), "test rdi 4 taken; ");
  EXPECT_EQ(describe(join->demands), "test rdi 4 not taken; ") << "edi is the same on both ways";
}

TEST(Joins, TwoArmsBeforeAnOperand) {
  // 0: test eax, eax; 2: je b; 4: lock add qword ptr [rdi], 1; 9: jmp 11; b: lock add qword ptr [rdi+8], 1;
  // 11: mov rax, [rsi]; 14: ret
  const auto join = joinIn("85 c0 74 07 f0 48 83 07 01 eb 06 f0 48 83 47 08 01 48 8b 06 c3", 0x11);
  ASSERT_TRUE(join) << "an operand of the join's own changes nothing";
  EXPECT_EQ(join->before.codeAddress, kCode + 0xb);
  EXPECT_EQ(join->from, kCode + 0xb);
  ASSERT_EQ(join->jumps.size(), 1u);
  EXPECT_EQ(join->jumps[0].from, kCode + 4);
  EXPECT_EQ(join->jumps[0].at, kCode + 9);
  EXPECT_EQ(join->jumps[0].condition, kAlways);
  EXPECT_TRUE(join->jumps[0].locked);
  EXPECT_FALSE(join->jumps[0].skips);
}

TEST(Joins, ALockThatOthersJumpBehindIsNotOnTheirWay) {
  // 0: je 9; 2: lock add qword ptr [rdi], 1; 7: jmp e; 9: lock add qword ptr [rdi], 1; e: nop; f: ret;
  // 10: jmp 7
  const auto join = joinIn("74 07 f0 48 83 07 01 eb 05 f0 48 83 07 01 90 c3 eb f5", 14);
  ASSERT_TRUE(join);
  ASSERT_EQ(join->jumps.size(), 1u);
  EXPECT_EQ(join->jumps[0].at, kCode + 7);
  EXPECT_FALSE(join->jumps[0].locked);
}

TEST(Joins, LoopsAndIndirectJumps) {
  // 0: lock inc qword ptr [rdi]; 4: dec rcx; 7: jne 4; 9: jmp rax
  const auto join = joinIn("f0 48 ff 07 48 ff c9 75 fb ff e0", 4);
  ASSERT_TRUE(join);
  ASSERT_EQ(join->jumps.size(), 2u);
  EXPECT_FALSE(join->jumps[0].skips);
  EXPECT_EQ(join->jumps[0].condition, 5) << "not equal";
  EXPECT_EQ(join->jumps[1].at, kCode + 9) << "who knows where it leads";
}

TEST(Joins, DemandsOnRegistersThatAreLeftAlone) {
  const auto demands = [](std::string_view hex, uint64_t ip) {
    const auto join = joinIn(hex, ip);
    EXPECT_TRUE(join && join->jumps.size() == 1 && join->jumps[0].skips);
    return join ? describe(join->jumps[0].demands) + "| " + describe(join->demands) : "";
  };
  EXPECT_EQ(demands("40 38 f7 74 04 f0 48 ff 02 90 c3", 9), "cmp rdi 4 taken; | cmp rdi 4 not taken; ")
      << "cmp dil, sil; je; lock inc qword ptr [rdx]";
  EXPECT_EQ(demands("85 ff 74 05 f0 48 0f c1 3e 90 c3", 9), "test rdi 4 taken; | ") << "lock xadd [rsi], rdi";
  EXPECT_EQ(demands("85 ff 74 06 ff cf f0 48 ff 06 90 c3", 10), "test rdi 4 taken; | ") << "dec edi";
  EXPECT_EQ(demands("85 ff 74 07 48 ff cf f0 48 ff 06 90 c3", 11), "test rdi 4 taken; | ") << "dec rdi";
  EXPECT_EQ(demands("85 3f 74 04 f0 48 ff 06 90 c3", 8), "| ") << "test [rdi], edi: memory changes";
  EXPECT_EQ(demands("85 ff 90 74 04 f0 48 ff 06 90 c3", 9), "| ") << "something in between";
}

TEST(Joins, DemandsOfAllTheOnlyWay) {
  // 0: cmp esi, 1; 3: je f; 5: test esi, esi; 7: jne 16; 9: lock add qword ptr [rdi], 1; d: jmp 13;
  // f: lock inc qword ptr [rdx]; 13: nop; 14: jmp away; 16: mov [rcx], eax; 18: jmp 13
  const auto join =
      joinIn("83 fe 01 74 0a 85 f6 75 0d f0 48 ff 07 eb 04 f0 48 ff 02 90 eb 7f 89 01 eb f9", 0x13);
  ASSERT_TRUE(join);
  EXPECT_EQ(describe(join->demands), "cmp rsi 4 taken; ");
  ASSERT_EQ(join->jumps.size(), 2u);
  EXPECT_EQ(describe(join->jumps[0].demands), "test rsi 5 not taken; cmp rsi 4 not taken; ");
  EXPECT_EQ(describe(join->jumps[1].demands), "test rsi 5 taken; cmp rsi 4 not taken; ");
}

TEST(Joins, NothingIsDemandedWhereOthersMayComeIn) {
  // The same, but for an indirect jump in the place of the one away.
  const auto join =
      joinIn("83 fe 01 74 0a 85 f6 75 0d f0 48 ff 07 eb 04 f0 48 ff 02 90 ff e0 89 01 eb f9", 0x13);
  ASSERT_TRUE(join);
  EXPECT_EQ(describe(join->demands), "");
  ASSERT_EQ(join->jumps.size(), 3u);
  for (const Jump& jump : join->jumps) EXPECT_EQ(describe(jump.demands), "");
}

TEST(Joins, OnlyALockedAccessRightBeforeATarget) {
  EXPECT_FALSE(joinIn("85 ff 74 05 f0 48 ff 06 90 48 ff c0 c3", 9)) << "a nop in between";
  EXPECT_FALSE(joinIn("85 ff 74 04 f0 48 ff 06 48 ff c0 c3", 11)) << "behind the join";
  EXPECT_FALSE(joinIn("85 ff 74 03 48 ff 06 48 ff c0 c3", 7)) << "not locked";
  EXPECT_FALSE(joinIn("f0 48 ff 06 48 ff c0 c3", 4)) << "nobody jumps there";
  EXPECT_FALSE(joinIn("f0 48 ff 06 eb 00 90 c3", 6)) << "the jump does not fall through";
  EXPECT_FALSE(joinIn("74 01 90", 3)) << "behind the code";
  const auto clobbered = joinIn("85 ff 74 05 f0 48 0f c1 36 48 ff c0 c3", 9);
  ASSERT_TRUE(clobbered) << "lock xadd [rsi], rsi overwrites its base: that is known to be lost";
  EXPECT_EQ(clobbered->before.failure, Failure::clobbered);
}

}  // namespace
}  // namespace cacheline::decode
