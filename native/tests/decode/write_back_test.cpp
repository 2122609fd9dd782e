// Loads whose place is stored to behind them.
#include "decode/write_back.h"

#include <gtest/gtest.h>

#include "tests/decode/code_bytes.h"

namespace cacheline::decode {
namespace {

bool isWrittenBack(std::string_view hex) {
  const std::vector<uint8_t> code = fromHex(hex);
  return decode::isWrittenBack(code, 0x1000);
}

TEST(WriteBack, FindsTheStoreOfTheSameBlock) {
  EXPECT_TRUE(isWrittenBack("48 8b 47 08 48 ff c0 48 89 47 08")) << "mov 8(rdi),rax; inc rax; mov rax,8(rdi)";
  EXPECT_TRUE(isWrittenBack("48 8b 05 10 00 00 00 48 ff c0 48 89 05 06 00 00 00")) << "RIP-relative";
  EXPECT_TRUE(isWrittenBack("48 8b 04 cf 48 01 d0 48 89 04 cf")) << "with an index";
}

TEST(WriteBack, FollowsTheAddress) {
  EXPECT_TRUE(isWrittenBack("48 8b 47 08 48 83 c7 08 48 89 07")) << "add 8,rdi; mov rax,(rdi)";
  EXPECT_FALSE(isWrittenBack("48 8b 47 08 48 83 c7 08 48 89 47 08")) << "the next element";
  EXPECT_FALSE(isWrittenBack("48 8b 3f 48 89 07")) << "mov (rdi),rdi: where it was is lost";
}

TEST(WriteBack, TakesNoOtherPlaceAndNoOtherBlock) {
  EXPECT_FALSE(isWrittenBack("48 8b 47 08 48 89 47 10"));
  EXPECT_FALSE(isWrittenBack("48 8b 47 08 48 89 46 08")) << "another base";
  EXPECT_FALSE(isWrittenBack("48 8b 47 08 eb 00 48 89 47 08")) << "behind a jump";
  EXPECT_FALSE(isWrittenBack("48 89 47 08 48 89 47 08")) << "a store is no load";
  EXPECT_FALSE(isWrittenBack("48 8b 47 08 48 8b 47 08 48 ff c0")) << "read twice";
}

TEST(WriteBack, SurvivesAnyEnd) {
  const std::vector<uint8_t> code = fromHex("48 8b 47 08 48 ff c0 48 89 47 08");
  for (size_t size = 0; size < code.size(); ++size)
    EXPECT_FALSE(decode::isWrittenBack(std::span(code).first(size), 0x1000)) << size;
}

}  // namespace
}  // namespace cacheline::decode
