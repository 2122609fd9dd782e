// Stores that a sampled thread makes next, and stores behind a load, of single encodings.
#include "decode/later_writes.h"

#include <gtest/gtest.h>

#include "tests/decode/code_bytes.h"

namespace cacheline::decode {
namespace {

std::string ahead(std::string_view hex, uint64_t from = 0) {
  const std::vector<uint8_t> bytes = fromHex(hex);
  const CodeSweep sweep(bytes);
  std::string text;
  for (const MemoryOperand& each : storesAhead({sweep, bytes, 0x1000}, 0x1000 + from))
    text += describe(each) + "; ";
  return text;
}

TEST(StoresAhead, AreByTheRegistersThatTheSampleHas) {
  EXPECT_EQ(ahead("48 89 47 08 c3"), "write 8 bytes at [rdi + - * 1 + 8]; ");
  EXPECT_EQ(ahead("48 83 c7 10 89 07 c3"), "write 4 bytes at [rdi + - * 1 + 16]; ") << "add 16,rdi first";
  EXPECT_EQ(ahead("89 04 8f c3"), "write 4 bytes at [rdi + rcx * 4 + 0]; ");
  EXPECT_EQ(ahead("eb 01 90 89 07 c3"), "write 4 bytes at [rdi + - * 1 + 0]; ")
      << "behind a jump that is taken";
  EXPECT_EQ(ahead("89 05 10 00 00 00 c3"), "write 4 bytes at [- + - * 1 + 4118]; ") << "RIP-relative";
}

TEST(StoresAhead, AreNotWhereTheThreadMayGoElsewhere) {
  EXPECT_EQ(ahead("74 02 89 07 c3"), "") << "behind a conditional jump";
  EXPECT_EQ(ahead("e8 00 00 00 00 89 07 c3"), "") << "behind a call";
  EXPECT_EQ(ahead("48 8b 3f 89 07 c3"), "") << "mov (rdi),rdi: the address is not known yet";
  EXPECT_EQ(ahead("89 44 24 08 c3"), "") << "in the frame";
  EXPECT_EQ(ahead("f0 ff 07 c3"), "") << "locked instructions have samples of their own";
}

std::string later(std::string_view hex, uint64_t access) {
  const std::vector<uint8_t> bytes = fromHex(hex);
  const CodeSweep sweep(bytes);
  const LaterWrites writes = laterWrites({sweep, bytes, 0x1000}, 0x1000 + access);
  const char* const ways[] = {"none", "some", "all"};
  return ways[static_cast<int>(writes.ways)];
}

TEST(LaterWrites, KnowTheAddressInAnotherRegister) {
  EXPECT_EQ(later("48 89 fa 8b 07 85 c0 74 00 89 02 c3", 3), "all")
      << "mov rdi,rdx; mov (rdi),eax; …; mov eax,(rdx)";
  EXPECT_EQ(later("48 89 fa eb 00 8b 07 85 c0 75 fa 89 02 c3", 5), "all")
      << "the copy is made in front of a loop";
  EXPECT_EQ(later("8b 07 85 c0 74 03 48 89 f7 89 07 c3", 0), "none") << "one of two ways changes the base";
}

TEST(LaterWrites, DoNotKnowWhatTablesOfJumpsLeadTo) {
  EXPECT_EQ(later("8b 07 85 c0 74 02 ff e2 89 07 c3", 0), "some") << "jmp rdx";
  EXPECT_EQ(later("8b 07 85 c0 74 02 0f 0b 89 07 c3", 0), "all") << "ud2: nobody goes on there";
}

TEST(LaterWrites, SurviveAnyEndAndAnyPlace) {
  const std::vector<uint8_t> code =
      fromHex("48 8b 47 08 48 85 c0 74 04 48 89 47 08 e8 f0 ff ff ff 75 ee 0f 05 c3");
  for (size_t size = 0; size < code.size(); ++size) {
    const auto bytes = std::span(code).first(size);
    const CodeSweep sweep(bytes);
    for (uint64_t access = 0xfff; access < 0x1020; ++access) {
      laterWrites({sweep, bytes, 0x1000}, access);
      storesAhead({sweep, bytes, 0x1000}, access);
    }
  }
}

}  // namespace
}  // namespace cacheline::decode
