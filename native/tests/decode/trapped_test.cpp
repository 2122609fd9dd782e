// Which access a trap at an instruction pointer belongs to.
#include "decode/trapped.h"

#include <gtest/gtest.h>

#include "tests/decode/code_bytes.h"

namespace cacheline::decode {
namespace {

constexpr uint64_t kTrapStart = 0x401000, kWord = 0x500000;

Registers with(std::initializer_list<std::pair<uint8_t, uint64_t>> values) {
  Registers registers;
  for (const auto& [reg, value] : values) {
    registers.mask |= uint64_t{1} << reg;
    registers.value[reg] = value;
  }
  return registers;
}

std::optional<TrappedAccess> at(std::string_view hex, uint64_t ip, const Registers& registers,
                                uint32_t length = 8) {
  const std::vector<uint8_t> code = fromHex(hex);
  return trappedAccess(planTrap(code, kTrapStart, kTrapStart + ip), registers, kWord, length);
}

TEST(Trapped, IsTheInstructionThatEndsAtTheIp) {
  // mov rax, [rsi]; mov [rdi+8], rcx; nop
  const char* code = "48 8b 06 48 89 4f 08 90";
  const auto write = at(code, 7, with({{kRegDi, kWord - 8}, {kRegSi, 0}}));
  ASSERT_TRUE(write);
  EXPECT_EQ(write->codeAddress, kTrapStart + 3);
  EXPECT_EQ(write->kind, AccessKind::write);
  EXPECT_EQ(write->address, kWord);
  EXPECT_EQ(write->width, 8u);
  const auto read = at(code, 3, with({{kRegSi, kWord}}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->codeAddress, kTrapStart);
  EXPECT_EQ(read->kind, AccessKind::read);
  EXPECT_FALSE(at(code, 0, with({{kRegSi, kWord}}))) << "nothing ends there";
  EXPECT_FALSE(at(code, 7, with({{kRegDi, 0}}))) << "it touched something else";
}

TEST(Trapped, LockedUpdateAndPartOfAWord) {
  // lock add dword ptr [rdi+4], 1; nop
  const auto update = at("f0 83 47 04 01 90", 5, with({{kRegDi, kWord}}));
  ASSERT_TRUE(update);
  EXPECT_EQ(update->kind, AccessKind::readWrite);
  EXPECT_TRUE(update->locked);
  EXPECT_EQ(update->address, kWord + 4);
  EXPECT_EQ(update->width, 4u);
}

TEST(Trapped, OverwrittenAddressIsTakenOnTrustUnlessABranchLeadsThere) {
  // mov rax, [rax]; nop
  const auto trusted = at("48 8b 00 90", 3, with({{kRegAx, 7}}));
  ASSERT_TRUE(trusted);
  EXPECT_EQ(trusted->kind, AccessKind::read);
  EXPECT_FALSE(trusted->address);
  // mov rax, [rax]; nop; jmp to the nop
  const auto joined = at("48 8b 00 90 eb fd", 3, with({{kRegAx, 7}}));
  ASSERT_TRUE(joined);
  EXPECT_FALSE(joined->kind) << "unknown";
}

TEST(Trapped, AfterABranchTheAccessIsUnknown) {
  // jmp [rdi]; nop: who arrives at the nop came from elsewhere
  EXPECT_FALSE(at("ff 27 90", 2, with({{kRegDi, kWord}})));
  // call [rdi]; nop
  EXPECT_FALSE(at("ff 17 90", 2, with({{kRegDi, kWord}})));
}

TEST(Trapped, StringOperations) {
  // rep movsb; nop
  const char* movs = "f3 a4 90";
  const auto target = at(movs, 0, with({{kRegDi, kWord + 1}, {kRegSi, 0x900000}}));
  ASSERT_TRUE(target);
  EXPECT_EQ(target->kind, AccessKind::write);
  EXPECT_EQ(target->codeAddress, kTrapStart);
  const auto source = at(movs, 2, with({{kRegDi, 0x900000}, {kRegSi, kWord + 64}}));
  ASSERT_TRUE(source);
  EXPECT_EQ(source->kind, AccessKind::read);
  const auto both = at(movs, 0, with({{kRegDi, kWord + 1}, {kRegSi, kWord + 9}}));
  ASSERT_TRUE(both);
  EXPECT_FALSE(both->kind);
  EXPECT_FALSE(at(movs, 0, with({{kRegDi, 0x900000}, {kRegSi, 0x900000}})));
}

TEST(Trapped, AnyBytesAreInput) {
  EXPECT_FALSE(at("", 0, {}));
  EXPECT_FALSE(at("06 06 06 06", 3, {}));
  EXPECT_FALSE(at("48 8b", 40, {}));
  EXPECT_FALSE(at("48 8b 06 90", 2, with({{kRegSi, kWord}}))) << "within an instruction";
}

}  // namespace
}  // namespace cacheline::decode
