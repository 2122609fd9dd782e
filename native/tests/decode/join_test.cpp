// Joins of control flow: the ways that lead there, the access on each, and what tells them apart.
#include "decode/join.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/decode/code_bytes.h"

namespace cacheline::decode {
namespace {

constexpr uint64_t kCode = 0x401000;

std::optional<Join> joinIn(std::string_view hex, uint64_t ip) {
  const std::vector<uint8_t> code = fromHex(hex);
  const CodeSweep sweep(code);
  return planJoin({sweep, code, kCode}, kCode + ip);
}

std::string describe(const std::vector<Demand>& demands) {
  std::string text;
  for (const Demand& demand : demands)
    text += std::string(demand.comparison.test ? "test " : "cmp ") + registerName(demand.comparison.left.reg) +
            " " + std::to_string(demand.condition) + "; ";
  return text;
}

TEST(Joins, OneArmOfAnIf) {
  // 0: test edi, edi; 2: je 8; 4: lock inc qword ptr [rsi]; 8: inc rax; b: ret
  const auto join = joinIn("85 ff 74 04 f0 48 ff 06 48 ff c0 c3", 8);
  ASSERT_TRUE(join);
  EXPECT_EQ(describe(join->ways[0].before),
            describe(AccessPlan{
                Failure::none, kCode + 4, 1, {0, 8, kRegSi, kRegNone, 1, AccessKind::readWrite, true}}));
  EXPECT_EQ(join->ways[0].from, kCode + 4);
  ASSERT_EQ(join->ways.size(), 2u);
  const Way& jump = join->ways[1];
  EXPECT_EQ(jump.from, kCode);
  EXPECT_EQ(jump.at, kCode + 2);
  EXPECT_EQ(jump.conditions, std::vector<Condition>{4}) << "equal";
  EXPECT_TRUE(jump.skips);
  EXPECT_FALSE(jump.locked);
  EXPECT_EQ(describe(jump.demands), "test rdi 4; ");
  EXPECT_EQ(describe(join->ways[0].demands), "test rdi 5; ") << "edi is the same on both ways";
}

TEST(Joins, TwoArmsBeforeAnOperand) {
  // 0: test eax, eax; 2: je b; 4: lock add qword ptr [rdi], 1; 9: jmp 11; b: lock add qword ptr [rdi+8], 1;
  // 11: mov rax, [rsi]; 14: ret
  const auto join = joinIn("85 c0 74 07 f0 48 83 07 01 eb 06 f0 48 83 47 08 01 48 8b 06 c3", 0x11);
  ASSERT_TRUE(join) << "an operand of the join's own changes nothing";
  EXPECT_EQ(join->ways[0].before.codeAddress, kCode + 0xb);
  EXPECT_EQ(join->ways[0].from, kCode + 0xb);
  ASSERT_EQ(join->ways.size(), 2u);
  EXPECT_EQ(join->ways[1].from, kCode + 4);
  EXPECT_EQ(join->ways[1].at, kCode + 9);
  EXPECT_EQ(join->ways[1].conditions, std::vector<Condition>{});
  EXPECT_TRUE(join->ways[1].locked);
  EXPECT_FALSE(join->ways[1].skips);
}

TEST(Joins, ALockThatOthersJumpBehindIsNotOnTheirWay) {
  // 0: je 9; 2: lock add qword ptr [rdi], 1; 7: jmp e; 9: lock add qword ptr [rdi], 1; e: nop; f: ret;
  // 10: jmp 7
  const auto join = joinIn("74 07 f0 48 83 07 01 eb 05 f0 48 83 07 01 90 c3 eb f5", 14);
  ASSERT_TRUE(join);
  ASSERT_EQ(join->ways.size(), 3u) << "by 2 and by 10";
  for (const size_t way : {1, 2}) {
    EXPECT_EQ(join->ways[way].at, kCode + 7);
    EXPECT_FALSE(join->ways[way].locked);
  }
}

TEST(Joins, LoopsAndIndirectJumps) {
  // 0: lock inc qword ptr [rdi]; 4: dec rcx; 7: jne 4; 9: jmp rax
  const auto join = joinIn("f0 48 ff 07 48 ff c9 75 fb ff e0", 4);
  ASSERT_TRUE(join);
  ASSERT_EQ(join->ways.size(), 3u);
  EXPECT_FALSE(join->ways[1].skips);
  EXPECT_EQ(join->ways[1].conditions, std::vector<Condition>{5}) << "not equal";
  EXPECT_EQ(join->ways[2].at, kCode + 9) << "who knows where it leads";
}

TEST(Joins, DemandsOnRegistersThatAreLeftAlone) {
  const auto demands = [](std::string_view hex, uint64_t ip) {
    const auto join = joinIn(hex, ip);
    EXPECT_TRUE(join && join->ways.size() == 2 && join->ways[1].skips);
    return join ? describe(join->ways[1].demands) + "| " + describe(join->ways[0].demands) : "";
  };
  EXPECT_EQ(demands("40 38 f7 74 04 f0 48 ff 02 90 c3", 9), "cmp rdi 4; | cmp rdi 5; ")
      << "cmp dil, sil; je; lock inc qword ptr [rdx]";
  EXPECT_EQ(demands("85 ff 74 05 f0 48 0f c1 3e 90 c3", 9), "test rdi 4; | ") << "lock xadd [rsi], rdi";
  EXPECT_EQ(demands("85 ff 74 06 ff cf f0 48 ff 06 90 c3", 10), "test rdi 4; | ") << "dec edi";
  EXPECT_EQ(demands("85 ff 74 07 48 ff cf f0 48 ff 06 90 c3", 11), "test rdi 4; | ") << "dec rdi";
  EXPECT_EQ(demands("85 3f 74 04 f0 48 ff 06 90 c3", 8), "| ") << "test [rdi], edi: memory changes";
  EXPECT_EQ(demands("85 ff 90 74 04 f0 48 ff 06 90 c3", 9), "| ") << "something in between";
}

TEST(Joins, DemandsOfAllTheOnlyWay) {
  // 0: cmp esi, 1; 3: je f; 5: test esi, esi; 7: jne 16; 9: lock add qword ptr [rdi], 1; d: jmp 13;
  // f: lock inc qword ptr [rdx]; 13: nop; 14: jmp away; 16: mov [rcx], eax; 18: jmp 13
  const auto join =
      joinIn("83 fe 01 74 0a 85 f6 75 0d f0 48 ff 07 eb 04 f0 48 ff 02 90 eb 7f 89 01 eb f9", 0x13);
  ASSERT_TRUE(join);
  EXPECT_EQ(describe(join->ways[0].demands), "cmp rsi 4; ");
  ASSERT_EQ(join->ways.size(), 3u);
  EXPECT_EQ(describe(join->ways[1].demands), "test rsi 4; cmp rsi 5; ");
  EXPECT_EQ(describe(join->ways[2].demands), "test rsi 5; cmp rsi 5; ");
}

TEST(Joins, NothingIsDemandedWhereOthersMayComeIn) {
  // The same, but for an indirect jump in the place of the one away.
  const auto join =
      joinIn("83 fe 01 74 0a 85 f6 75 0d f0 48 ff 07 eb 04 f0 48 ff 02 90 ff e0 89 01 eb f9", 0x13);
  ASSERT_TRUE(join);
  EXPECT_EQ(describe(join->ways[0].demands), "");
  ASSERT_EQ(join->ways.size(), 4u);
  for (const Way& jump : join->ways) EXPECT_EQ(describe(jump.demands), "");
}

TEST(Joins, OnlyALockedAccessRightBeforeATargetHasItsSamplesThere) {
  const auto isBehindLocked = [](std::string_view hex, uint64_t ip) {
    const auto join = joinIn(hex, ip);
    return join && join->behindLocked;
  };
  EXPECT_TRUE(isBehindLocked("85 ff 74 04 f0 48 ff 06 48 ff c0 c3", 8));
  EXPECT_FALSE(isBehindLocked("85 ff 74 05 f0 48 ff 06 90 48 ff c0 c3", 9)) << "a nop in between";
  EXPECT_FALSE(isBehindLocked("85 ff 74 04 f0 48 ff 06 48 ff c0 c3", 11)) << "behind the join";
  EXPECT_FALSE(isBehindLocked("85 ff 74 03 48 ff 06 48 ff c0 c3", 7)) << "not locked";
  EXPECT_FALSE(isBehindLocked("f0 48 ff 06 48 ff c0 c3", 4)) << "nobody jumps there";
  EXPECT_FALSE(isBehindLocked("f0 48 ff 06 eb 00 90 c3", 6)) << "the jump does not fall through";
  EXPECT_FALSE(joinIn("74 01 90", 3)) << "behind the code";
  const auto clobbered = joinIn("85 ff 74 05 f0 48 0f c1 36 48 ff c0 c3", 9);
  ASSERT_TRUE(clobbered) << "lock xadd [rsi], rsi overwrites its base: that is known to be lost";
  EXPECT_EQ(clobbered->ways[0].before.failure, Failure::clobbered);
}

Registers registersOf(std::initializer_list<std::pair<uint8_t, uint64_t>> values) {
  Registers registers;
  registers.mask = kX86SampleRegs & ~(uint64_t{1} << kRegFlags);
  for (const auto& [reg, value] : values) {
    registers.value[reg] = value;
    registers.mask |= uint64_t{1} << reg;
  }
  return registers;
}

/// The address that is charged at a join; text, so that what is not charged has a reason.
std::string charged(const std::optional<Join>& join, const Registers& registers) {
  if (!join) return "no join";
  const auto way = wayTaken(*join, registers, 0);
  if (!way) return "open";
  const AccessPlan& plan = join->ways[*way].before;
  uint64_t address = 0;
  if (plan.failure != Failure::none) return failureName(plan.failure);
  EXPECT_TRUE(effectiveAddress(plan, registers, 0, address));
  std::ostringstream out;
  out << "+" << plan.codeAddress - kCode << " skid " << int{plan.skid} << ": " << std::hex << address;
  return out.str();
}

/// 0: xor edx, edx; 2: movsxd rcx, edx; 5: add edx, 1; 8: mov rcx, [rsi+rcx*8]; c: add rax, rcx;
/// f: cmp edi, edx; 11: jne 2; 13: ret
constexpr std::string_view kLoop = "31 d2 48 63 ca 83 c2 01 48 8b 0c ce 48 01 c8 39 d7 75 ef c3";

TEST(Joins, ALoopsHeadBelongsToTheLoadAtItsEnd) {
  const auto join = joinIn(kLoop, 2);
  ASSERT_TRUE(join);
  ASSERT_EQ(join->ways.size(), 2u);
  const auto at = [&](uint64_t rdx) { return registersOf({{kRegDx, rdx}, {kRegSi, 0x7000}, {kRegDi, 9}}); };
  EXPECT_EQ(charged(join, at(3)), "+8 skid 4: 7010");
  EXPECT_EQ(charged(join, at(1)), "+8 skid 4: 7000");
  EXPECT_EQ(charged(join, at(0)), "open") << "as behind the xor, where nothing was loaded yet";
  EXPECT_EQ(charged(join, at(9)), "open") << "the loop had ended";
  EXPECT_EQ(charged(joinIn(kLoop, 5), at(3)), "open") << "rcx is not the sign extension of edx";
  Registers behind = at(3);
  behind.value[kRegCx] = 3;
  EXPECT_EQ(charged(joinIn(kLoop, 5), behind), "+8 skid 5: 7010");
}

TEST(Joins, ACounterThatIsLostIsWhatItWasComparedWith) {
  // 0: movsxd rcx, eax; 3: add eax, 1; 6: mov rcx, [rdi+rcx*8]; a: add rdx, rcx; d: cmp esi, eax; f: jne 0;
  // 11: mov rax, rdx; 14: nop; 15: ret
  const auto at = registersOf({{kRegDi, 0x7000}, {kRegSi, 4}});
  EXPECT_EQ(charged(joinIn("48 63 c8 83 c0 01 48 8b 0c cf 48 01 ca 39 c6 75 ef 48 89 d0 90 c3", 0x14), at),
            "+6 skid 5: 7018");
  EXPECT_EQ(charged(joinIn("48 63 c8 83 c0 01 48 8b 0c cf 48 01 ca 39 c6 74 ef 48 89 d0 90 c3", 0x14), at),
            "clobbered")
      << "je: it went on because they differ";
}

TEST(Joins, FlagsTellTheWaysOfALoop) {
  // 0: cmp rdi, 1; 4: mov rax, [rsi]; 7: je a; 9: nop; a: nop; b: ret
  const auto join = joinIn("48 83 ff 01 48 8b 06 74 01 90 90 c3", 10);
  const auto with = [&](uint64_t flags) { return registersOf({{kRegSi, 0x7000}, {kRegFlags, flags}}); };
  EXPECT_EQ(charged(join, with(1 << 6)), "+4 skid 2: 7000");
  EXPECT_EQ(charged(join, with(0)), "+4 skid 3: 7000");
}

TEST(Joins, WaysWithDifferentAccessesAreToldApart) {
  // 0: test edi, edi; 2: je 9; 4: mov rax, [rsi]; 7: jmp c; 9: mov rax, [rdx]; c: nop; d: ret
  const auto join = joinIn("85 ff 74 05 48 8b 06 eb 03 48 8b 02 90 c3", 12);
  const auto at = [&](uint64_t rdi) {
    return registersOf({{kRegDi, rdi}, {kRegSi, 0x7000}, {kRegDx, 0x8000}});
  };
  EXPECT_EQ(charged(join, at(1)), "+4 skid 2: 7000");
  EXPECT_EQ(charged(join, at(0)), "+9 skid 1: 8000");
}

TEST(Joins, OfSeveralAccessesAtOneAddressALockedOneIsTaken) {
  // 0: mov rax, [rcx]; 3: lea rdi, [rax+1]; 7: lock cmpxchg [rcx], rdi; c: jne 3; e: ret
  const auto join = joinIn("48 8b 01 48 8d 78 01 f0 48 0f b1 39 75 f5 c3", 3);
  ASSERT_TRUE(join);
  Registers registers;
  registers.mask = kX86SampleRegs;
  registers.value[kRegCx] = 0x1000;
  const auto way = wayTaken(*join, registers, 0);
  ASSERT_TRUE(way);
  EXPECT_EQ(join->ways[*way].before.codeAddress, kCode + 7);
}

TEST(Joins, WhereSamplesOfAnAccessLieBeforeTheJoin) {
  // 0: mov rax, [rcx]; 3: cmp rax, rdx; 6: jne d; 8: mov rax, [rsi]; b: jmp d; d: nop; e: ret
  const auto join = joinIn("48 8b 01 48 39 d0 75 05 48 8b 06 eb 00 90 c3", 13);
  ASSERT_TRUE(join);
  ASSERT_EQ(join->ways.size(), 2u);
  for (const Way& way : join->ways) {
    if (way.before.codeAddress == kCode) {
      EXPECT_EQ(way.behindFrom, kCode + 3);
      EXPECT_EQ(way.behindTo, kCode + 7);
    } else {
      EXPECT_EQ(way.behindFrom, way.behindTo)
          << "no interrupt need arrive between a load and the jump behind it";
    }
  }
}

TEST(Joins, OneWayWhoseAddressIsLostIsNotGuessed) {
  // 0: nop; 1: mov rax, [rax]; 4: test rax, rax; 7: jne 0
  EXPECT_EQ(charged(joinIn("90 48 8b 00 48 85 c0 75 f7 c3", 9), registersOf({})), "no join")
      << "ret has an operand";
  // 0: mov rax, [rax]; 3: test rax, rax; 6: je 9; 8: nop; 9: ret
  EXPECT_EQ(charged(joinIn("48 8b 00 48 85 c0 74 01 90 c3", 8), registersOf({{kRegAx, 5}})), "clobbered");
}

TEST(Joins, NotThroughAPause) {
  // 0: mov eax, [rsi]; 2: test eax, eax; 4: je 9; 6: pause; 8: nop; 9: ret
  EXPECT_EQ(charged(joinIn("8b 06 85 c0 74 03 f3 90 90 c3", 6), registersOf({{kRegAx, 5}, {kRegSi, 0x7000}})),
            "+0 skid 3: 7000");
  EXPECT_EQ(charged(joinIn("8b 06 85 c0 74 03 f3 90 90 c3", 8), registersOf({{kRegAx, 5}, {kRegSi, 0x7000}})),
            "no join");
}

TEST(Joins, NotWhereWaysAreUnknown) {
  EXPECT_FALSE(joinIn("31 d2 48 63 ca 83 c2 01 48 8b 0c ce 48 01 c8 39 d7 75 ef ff e0", 2)) << "jmp rax";
  // 0: test eax, eax; 2: jne 8; 4: mov eax, [rsi]; 6: nop; 7: nop; 8: nop; 9: ret
  EXPECT_EQ(charged(joinIn("85 c0 75 04 8b 06 90 90 90 c3", 8), registersOf({{kRegAx, 5}, {kRegSi, 0x7000}})),
            "open")
      << "eax may have been that, or loaded";
  // 0: call rcx; 2: nop; 3: jmp 8; 5: mov eax, [rsi]; 7: nop; 8: nop; 9: jmp 5
  EXPECT_EQ(charged(joinIn("ff d1 90 eb 03 8b 06 90 90 eb fa", 8), registersOf({{kRegSi, 0x7000}})), "open")
      << "what the call did is not known";
}

TEST(Joins, NotWhereAJumpLeadsIntoTheMiddleOfAnInstruction) {
  // 0: loope 3; 2: dec [rcx]; 4: xchg ecx, eax; 5: and bh, bh; 7: sti. From 3: or [rcx+...], edx, over 7.
  EXPECT_FALSE(joinIn("e1 01 ff 09 91 22 ff fb", 7));
}

TEST(Returns, BelongToTheLoadBeforeThem) {
  // 0: test edi, edi; 2: je 8; 4: mov eax, [rsi]; 6: nop; 7: ret; 8: xor eax, eax; a: ret
  const auto planned = [](std::string_view hex) {
    const std::vector<uint8_t> code = fromHex(hex);
    const CodeSweep sweep(code);
    return planReturn({sweep, code, kCode}, {});
  };
  const auto at = [](uint64_t rdi, uint64_t rax) {
    return registersOf({{kRegDi, rdi}, {kRegAx, rax}, {kRegSi, 0x7000}});
  };
  const auto join = planned("85 ff 74 04 8b 06 90 c3 31 c0 c3");
  EXPECT_EQ(charged(join, at(1, 0)), "+4 skid 3: 7000");
  EXPECT_EQ(charged(join, at(0, 0)), "open");
  EXPECT_FALSE(planned("85 ff 74 04 8b 06 90 c3 31 c0 e9 00 10 00 00")) << "another function returns, too";
  EXPECT_FALSE(planned("85 ff c3")) << "no access";
}

TEST(Returns, OnlyBehindADirectCall) {
  // 0: call 100; 5: add rax, rbx; 8: nop; 9: mov eax, [rsi]; b: ret
  const auto before = [](std::string_view hex, uint64_t ip) {
    const std::vector<uint8_t> code = fromHex(hex);
    const CodeSweep sweep(code);
    return callBefore({sweep, code, kCode}, kCode + ip);
  };
  constexpr std::string_view kCaller = "e8 fb 00 00 00 48 01 d8 90 8b 06 c3";
  const auto call = before(kCaller, 8);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->target, kCode + 0x100);
  EXPECT_EQ(call->behind.size(), 1u);
  EXPECT_FALSE(before(kCaller, 9)) << "has an operand of its own";
  EXPECT_FALSE(before("ff d0 90 90", 3)) << "who knows what was called";
  EXPECT_FALSE(before("e8 fb 00 00 00 90 eb fd", 5)) << "others jump there";
}

}  // namespace
}  // namespace cacheline::decode
