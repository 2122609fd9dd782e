// Encodings and the access each of them is: legacy, VEX and EVEX forms, addressing modes, strings, hints.
#include <gtest/gtest.h>

#include "tests/decode/code_bytes.h"
#include "tests/decode/encodings.h"

namespace cacheline::decode {

void PrintTo(const Encoding& encoding, std::ostream* out) {
  *out << encoding.text;
}

namespace {

class OperandTest : public testing::TestWithParam<Encoding> {};

TEST_P(OperandTest, IsTheInstructionsOwnAccess) {
  const std::vector<uint8_t> code = fromHex(GetParam().hex);
  EXPECT_EQ(describe(planAccess(code, kIp, kIp)), describe(GetParam().expected));
}

/// Every proper prefix of an instruction is no instruction, or another one; never a read beyond the bytes.
TEST_P(OperandTest, SurvivesBeingCutShort) {
  const std::vector<uint8_t> code = fromHex(GetParam().hex);
  for (size_t size = 0; size < code.size(); ++size) {
    const std::vector<uint8_t> cut(code.begin(), code.begin() + static_cast<ptrdiff_t>(size));
    const AccessPlan plan = planAccess(cut, kIp, kIp);
    EXPECT_EQ(plan.skid, 0);
    EXPECT_EQ(plan.codeAddress, uint64_t{kIp});
  }
}

INSTANTIATE_TEST_SUITE_P(Encodings, OperandTest, testing::ValuesIn(encodings().begin(), encodings().end()));

TEST(Swaps, AreTheInstructionsLocksAreTakenWith) {
  const auto swaps = [](std::string_view hex) {
    const AccessPlan plan = planAccess(fromHex(hex), 0, 0);
    return plan.failure == Failure::none && plan.operand.swaps;
  };
  EXPECT_TRUE(swaps("87 05 00 00 00 00")) << "xchg [rip], eax";
  EXPECT_TRUE(swaps("86 07")) << "xchg [rdi], al";
  EXPECT_TRUE(swaps("f0 0f b1 17")) << "lock cmpxchg [rdi], edx";
  EXPECT_TRUE(swaps("f0 48 0f c7 0f")) << "lock cmpxchg16b [rdi]";
  EXPECT_TRUE(swaps("f0 0f ba 2f 00")) << "lock bts [rdi], 0";
  EXPECT_FALSE(swaps("0f b1 17")) << "cmpxchg [rdi], edx: of one thread";
  EXPECT_FALSE(swaps("f0 48 83 07 01")) << "lock add";
  EXPECT_FALSE(swaps("f0 0f c1 07")) << "lock xadd";
  const auto adds = [](std::string_view hex) {
    return planAccess(fromHex(hex), 0x1000, 0x1000).operand.adds;
  };
  EXPECT_TRUE(adds("f0 48 83 07 01")) << "lock add";
  EXPECT_TRUE(adds("f0 ff 07")) << "lock inc";
  EXPECT_FALSE(adds("f0 0f c1 07")) << "lock xadd: the code looks at the result";
  EXPECT_FALSE(adds("48 83 07 01")) << "add: of one thread";
  EXPECT_FALSE(swaps("f0 0f ba 37 00")) << "lock btr: releases";
}

}  // namespace
}  // namespace cacheline::decode
