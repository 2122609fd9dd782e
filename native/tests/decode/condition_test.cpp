// Comparisons and conditions, judged by the processor itself.
#include "decode/condition.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/decode/code_bytes.h"

namespace cacheline::decode {
namespace {

constexpr uint64_t kStatus = 0x8c5;  // OF, SF, ZF, PF, CF

// The stack pointer steps over the red zone; lea leaves the flags alone.
#define FLAGS_OF(instruction, type)                                                                  \
  [](uint64_t a, uint64_t b) {                                                                       \
    uint64_t flags = 0;                                                                              \
    asm volatile(instruction                                                                         \
                 " %2, %1\n\tleaq -128(%%rsp), %%rsp\n\tpushfq\n\tpopq %0\n\tleaq 128(%%rsp), %%rsp" \
                 : "=r"(flags)                                                                       \
                 : "q"(static_cast<type>(a)), "q"(static_cast<type>(b))                              \
                 : "cc", "memory");                                                                  \
    return flags & kStatus;                                                                          \
  }

struct Judged {
  const char* name;
  std::string_view hex;  ///< of the right operand in rsi and the left one in rdi
  uint64_t (*flags)(uint64_t, uint64_t);
};
const Judged kJudged[] = {
    {"cmp rdi, rsi", "48 39 f7", FLAGS_OF("cmpq", uint64_t)},
    {"cmp edi, esi", "39 f7", FLAGS_OF("cmpl", uint32_t)},
    {"cmp di, si", "66 39 f7", FLAGS_OF("cmpw", uint16_t)},
    {"cmp dil, sil", "40 38 f7", FLAGS_OF("cmpb", uint8_t)},
    {"test rdi, rsi", "48 85 f7", FLAGS_OF("testq", uint64_t)},
    {"test edi, esi", "85 f7", FLAGS_OF("testl", uint32_t)},
    {"test di, si", "66 85 f7", FLAGS_OF("testw", uint16_t)},
    {"test dil, sil", "40 84 f7", FLAGS_OF("testb", uint8_t)},
};

TEST(Comparison, LeavesTheFlagsThatTheProcessorLeaves) {
  std::mt19937_64 random(1);
  const uint64_t corners[] = {0,
                              1,
                              2,
                              0x7f,
                              0x80,
                              0xff,
                              0x7fff,
                              0x8000,
                              0x7fffffff,
                              0x80000000,
                              ~uint64_t{0},
                              uint64_t{1} << 63,
                              ~(uint64_t{1} << 63)};
  for (const Judged& judged : kJudged) {
    const auto comparison = decodeComparison(fromHex(judged.hex));
    ASSERT_TRUE(comparison) << judged.name;
    const auto expectSame = [&](uint64_t a, uint64_t b) {
      Registers registers;
      registers.mask = (1ull << kRegDi) | (1ull << kRegSi);
      registers.value[kRegDi] = a;
      registers.value[kRegSi] = b;
      EXPECT_EQ(comparison->flags(registers), judged.flags(a, b)) << judged.name << ' ' << a << ' ' << b;
    };
    for (const uint64_t a : corners)
      for (const uint64_t b : corners) expectSame(a, b);
    for (int i = 0; i < 1000; ++i) expectSame(random(), random());
  }
}

TEST(Comparison, OfConstants) {
  const auto compared = [](std::string_view hex, uint64_t rax) {
    Registers registers;
    registers.mask = 1ull << kRegAx;
    registers.value[kRegAx] = rax;
    const auto comparison = decodeComparison(fromHex(hex));
    return comparison ? comparison->flags(registers) : std::nullopt;
  };
  const auto equal = FLAGS_OF("cmpq", uint64_t)(5, 5);
  EXPECT_EQ(compared("48 83 f8 05", 5), equal) << "cmp rax, 5";
  EXPECT_EQ(compared("48 83 f8 fb", ~uint64_t{4}), equal) << "cmp rax, -5";
  EXPECT_EQ(compared("3d fb ff ff ff", 0xfffffffb), equal) << "cmp eax, -5";
  EXPECT_EQ(compared("3c 05", 0xff05), equal) << "cmp al, 5";
  EXPECT_EQ(compared("a8 01", 6), (FLAGS_OF("testb", uint8_t)(6, 1))) << "test al, 1";
}

TEST(Comparison, NeedsPlainRegistersInTheSnapshot) {
  const Registers none;
  EXPECT_FALSE(decodeComparison(fromHex("39 07"))->flags(none)) << "cmp [rdi], eax";
  EXPECT_FALSE(decodeComparison(fromHex("3b 07"))->flags(none)) << "cmp eax, [rdi]";
  EXPECT_FALSE(decodeComparison(fromHex("80 fc 05"))) << "cmp ah, 5";
  EXPECT_FALSE(decodeComparison(fromHex("38 e0"))) << "cmp al, ah";
  EXPECT_FALSE(decodeComparison(fromHex("01 f7"))) << "add edi, esi";
  EXPECT_FALSE(decodeComparison(fromHex("39")));
  EXPECT_FALSE(decodeComparison(fromHex("39 f7"))->flags(none));
}

bool judgedHolds(Condition condition, uint64_t flags) {
  uint64_t results = 0, result = 0;
#define SET(cc, n)                                                                                       \
  asm volatile("leaq -128(%%rsp), %%rsp\n\tpushq %1\n\tpopfq\n\tset" cc " %b0\n\tleaq 128(%%rsp), %%rsp" \
               : "=&q"(result)                                                                           \
               : "r"(flags)                                                                              \
               : "cc", "memory");                                                                        \
  results |= (result & 1) << n
  SET("o", 0);
  SET("no", 1);
  SET("b", 2);
  SET("ae", 3);
  SET("e", 4);
  SET("ne", 5);
  SET("be", 6);
  SET("a", 7);
  SET("s", 8);
  SET("ns", 9);
  SET("p", 10);
  SET("np", 11);
  SET("l", 12);
  SET("ge", 13);
  SET("le", 14);
  SET("g", 15);
#undef SET
  return (results >> condition & 1) != 0;
}

TEST(Conditions, HoldWhenTheProcessorSaysSo) {
  for (unsigned bits = 0; bits < 32; ++bits) {
    const uint64_t flags = 0x202 | (bits & 1) | (bits >> 1 & 1) << 2 | (bits >> 2 & 1) << 6 |
                           (bits >> 3 & 1) << 7 | (bits >> 4 & 1) << 11;
    for (Condition condition = 0; condition < kAlways; ++condition)
      EXPECT_EQ(mayHold(condition, flags), judgedHolds(condition, flags)) << int{condition} << ' ' << flags;
    EXPECT_TRUE(mayHold(kAlways, flags));
    EXPECT_TRUE(mayHold(kOutOfFlags, flags));
  }
}

}  // namespace
}  // namespace cacheline::decode
