// What a thread accesses with an access that was sampled.
#include "decode/companions.h"

#include <gtest/gtest.h>

#include "tests/decode/code_bytes.h"

namespace cacheline::decode {
namespace {

/// "delta kind, …" of the instruction at `access`, in the block that begins with the code.
std::string companions(std::string_view hex, uint64_t access = 0) {
  const std::vector<uint8_t> code = fromHex(hex);
  std::string text;
  for (const Companion& each : companionsOf(code, 0x1000, 0x1000, 0x1000 + access))
    text += std::to_string(each.delta) + (each.reads ? "r" : "") + (each.writes ? "w" : "") + " ";
  return text;
}

TEST(Companions, AreLaterAccessesByTheSameRegisters) {
  EXPECT_EQ(companions("48 8b 47 08 48 ff c0 48 89 47 08"), "0w ")
      << "mov 8(rdi),rax; inc rax; mov rax,8(rdi)";
  EXPECT_EQ(companions("48 8b 05 10 00 00 00 48 89 05 11 00 00 00"), "8w ") << "RIP-relative";
  EXPECT_EQ(companions("48 8b 04 cf 48 01 d0 48 ff 44 cf 10"), "16rw ") << "with an index";
}

TEST(Companions, AreEarlierAccessesOfTheBlock) {
  const std::string_view code =
      "48 8b 07 48 8b 57 10 48 89 4f 20";  // mov (rdi),rax; 16(rdi),rdx; rcx,32(rdi)
  EXPECT_EQ(companions(code, 0), "16r 32w ");
  EXPECT_EQ(companions(code, 3), "-16r 16w ");
  EXPECT_EQ(companions(code, 7), "-32r -16r ");
  const std::vector<uint8_t> bytes = fromHex(code);
  EXPECT_EQ(companionsOf(bytes, 0x1000, 0x1003, 0x1003).size(), 1u) << "only what follows";
}

TEST(Companions, FollowTheAddress) {
  EXPECT_EQ(companions("48 8b 47 08 48 83 c7 08 48 89 07"), "0w ") << "add 8,rdi; mov rax,(rdi)";
  EXPECT_EQ(companions("48 8b 47 08 48 83 c7 08 48 89 07", 8), "0r ");
  EXPECT_EQ(companions("48 8b 3f 48 89 07"), "") << "mov (rdi),rdi: where it was is lost";
}

/// The same in a function whose block begins at `block`.
std::string companionsIn(std::string_view hex, uint64_t block, uint64_t access) {
  const std::vector<uint8_t> bytes = fromHex(hex);
  const CodeSweep sweep(bytes);
  std::string text;
  for (const Companion& each : companionsOf({sweep, bytes, 0x1000}, 0x1000 + block, 0x1000 + access))
    text += std::to_string(each.delta) + (each.reads ? "r" : "") + (each.writes ? "w" : "") + " ";
  return text;
}

TEST(Companions, AreByOtherRegistersThatAreAKnownDistanceApart) {
  EXPECT_EQ(companions("48 8d 7a 01 48 c1 e2 06 48 c1 e7 06 4c 01 d2 4c 01 d7 48 8b 37 48 8b 72 48 c3", 0x12),
            "8r ")
      << "rdi = (rdx + 1) * 64 + r10; rdx = rdx * 64 + r10; mov (rdi),rsi; mov 72(rdx),rsi";
  EXPECT_EQ(companions("48 8b 16 48 8b 3e 48 8b 07 48 8b 02", 6), "") << "both loaded: maybe not alike";
  // The same sums in front of a loop: its loads are [rdi] and [rdx+72].
  const std::string loop = "49 63 d0 48 8d 7a 01 48 c1 e2 06 48 c1 e7 06 4c 01 d2 4c 01 d7 ";
  EXPECT_EQ(companionsIn(loop + "48 8b 37 48 01 f0 48 8b 72 48 83 e9 01 75 f1 c3", 0x15, 0x15), "8r ");
  EXPECT_EQ(companionsIn(loop + "48 8b 37 48 83 c7 08 48 8b 72 48 83 e9 01 75 f0 c3", 0x15, 0x15), "")
      << "the loop moves one of them";
}

TEST(Companions, AreOfNoOtherPlaceAndNoOtherBlock) {
  EXPECT_EQ(companions("48 8b 47 08 48 89 46 08"), "") << "another base";
  EXPECT_EQ(companions("48 8b 47 08 eb 00 48 89 47 08"), "") << "behind a jump";
  EXPECT_EQ(companions("48 8b 47 08 48 89 87 08 01 00 00"), "") << "too far to be on the line";
  EXPECT_EQ(companions("48 ff c0 48 89 47 08"), "") << "no access";
}

TEST(Companions, SurviveAnyEndAndAnyPlace) {
  const std::vector<uint8_t> code = fromHex("48 8b 47 08 48 ff c0 48 89 47 08");
  for (size_t size = 0; size < code.size(); ++size)
    for (uint64_t start = 0xfff; start < 0x1010; ++start)
      for (uint64_t access = 0xfff; access < 0x1010; ++access)
        companionsOf(std::span(code).first(size), 0x1000, start, access);
}

}  // namespace
}  // namespace cacheline::decode
