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

}  // namespace
}  // namespace cacheline::decode
