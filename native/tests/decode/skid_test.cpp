// Which access a sampled instruction pointer is charged to: skid, basic blocks, overwritten and recovered
// registers.
#include <gtest/gtest.h>

#include "tests/decode/code_bytes.h"

namespace cacheline::decode {
namespace {

constexpr int64_t kStart = 0x401000;

struct Scenario {
  std::string_view name, text, hex;  ///< in `text` the sampled instruction carries a *
  uint64_t ip = 0;                   ///< offset of the sampled instruction
  AccessPlan expected;
};

Scenario charges(std::string_view name, std::string_view text, std::string_view hex, uint64_t ip,
                 uint64_t access, uint8_t skid, const MemoryOperand& operand) {
  return {name, text, hex, ip, {Failure::none, kStart + access, skid, operand}};
}
Scenario fails(std::string_view name, std::string_view text, std::string_view hex, uint64_t ip,
               uint64_t access, uint8_t skid, Failure why) {
  return {name, text, hex, ip, {why, kStart + access, skid, {}}};
}

Scenario recovers(std::string_view name, std::string_view text, std::string_view hex, uint64_t ip,
                  uint64_t access, uint8_t skid, const MemoryOperand& operand, const std::vector<Sum>& sums) {
  Scenario scenario = charges(name, text, hex, ip, access, skid, operand);
  scenario.expected.sums = sums;
  return scenario;
}

void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.text;
}

class SkidTest : public testing::TestWithParam<Scenario> {};

TEST_P(SkidTest, ChargesTheRightAccess) {
  const std::vector<uint8_t> code = fromHex(GetParam().hex);
  EXPECT_EQ(describe(planAccess(code, kStart, kStart + GetParam().ip)), describe(GetParam().expected));
}

// clang-format off
const Scenario kScenarios[] = {
    charges("LockThenPrivateLoad", "lock add dword ptr [rdi], 1; *mov rax, [rsi]", "f0 83 07 01 48 8b 06", 4, 0, 1, {0, 4, kRegDi, kRegNone, 1, AccessKind::readWrite, true}),
    charges("LockThenTwoAluThenLoad", "lock xadd [rdi], eax; add ecx, eax; xor edx, edx; *mov rax, [rsi]", "f0 0f c1 07 01 c1 31 d2 48 8b 06", 8, 0, 3, {0, 4, kRegDi, kRegNone, 1, AccessKind::readWrite, true}),
    charges("NearestOfTwo", "mov rax, [rsi]; mov [rdi+8], rax; *nop", "48 8b 06 48 89 47 08 90", 7, 3, 1, {8, 8, kRegDi, kRegNone, 1, AccessKind::write}),
    charges("BlockWithoutAccessBefore", "xor eax, eax; *mov rax, [rsi]", "31 c0 48 8b 06", 2, 2, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("FirstInstruction", "*mov rax, [rsi]", "48 8b 06", 0, 0, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    fails("NothingInBlock", "xor eax, eax; *inc rax", "31 c0 48 ff c0", 2, 2, 0, Failure::noMemoryOperand),
    charges("HintIsNoAccess", "mov eax, [rdi]; prefetcht0 [rsi]; lea rcx, [rsi+8]; nop dword ptr [rax]; *ret", "8b 07 0f 18 0e 48 8d 4e 08 0f 1f 00 c3", 12, 0, 4, {0, 4, kRegDi, kRegNone, 1, AccessKind::read}),
    fails("LoadsOwnBase", "mov rax, [rax]; *mov rbx, [rax+8]", "48 8b 00 48 8b 58 08", 3, 0, 1, Failure::clobbered),
    fails("LoadsOwnIndex", "mov rcx, [rax+rcx*8]; *nop", "48 8b 0c c8 90", 4, 0, 1, Failure::clobbered),
    fails("LoadsPartOfOwnBase", "mov al, [rax]; *nop", "8a 00 90", 2, 0, 1, Failure::clobbered),
    fails("LoadsHalfOfOwnBase", "mov eax, [rax]; *nop", "8b 00 90", 2, 0, 1, Failure::clobbered),
    fails("HighByteOfBase", "mov ecx, [rax]; mov ah, 3; *nop", "8b 08 b4 03 90", 4, 0, 2, Failure::clobbered),
    fails("ClobberedIsNotReplacedByEarlier", "mov ecx, [rsi]; mov rax, [rax]; *nop", "8b 0e 48 8b 00 90", 5, 2, 1, Failure::clobbered),
    charges("CopyOfBase", "mov rbx, rax; mov rax, [rax]; *nop", "48 89 c3 48 8b 00 90", 6, 3, 1, {0, 8, kRegBx, kRegNone, 1, AccessKind::read}),
    fails("CopyOfBaseIsOverwrittenToo", "mov rbx, rax; mov rax, [rax]; mov rbx, rcx; *nop", "48 89 c3 48 8b 00 48 89 cb 90", 9, 3, 2, Failure::clobbered),
    fails("CopyOfTheLowerHalfOfBase", "mov ebx, eax; mov rax, [rax]; *nop", "89 c3 48 8b 00 90", 5, 2, 1, Failure::clobbered),
    fails("CopyOfBaseOnOneWay", "je 8b; mov rbx, rax; 5: mov rax, [rax]; *nop", "74 03 48 89 c3 48 8b 00 90", 8, 5, 1, Failure::clobbered),
    charges("CopyOfBaseBeforeAJumpAway", "mov rbx, rax; jne 9; mov rax, [rax]; *nop; 9: ret", "48 89 c3 75 04 48 8b 00 90 c3", 8, 5, 1, {0, 8, kRegBx, kRegNone, 1, AccessKind::read}),
    fails("CopyOfBaseBeforeACall", "mov rbx, rax; call rcx; mov rax, [rax]; *nop", "48 89 c3 ff d1 48 8b 00 90", 8, 5, 1, Failure::clobbered),
    fails("CopyOfBaseWhereJumpsMayLeadAnywhere", "mov rbx, rax; mov rax, [rax]; *nop; jmp rcx", "48 89 c3 48 8b 00 90 ff e1", 6, 3, 1, Failure::clobbered),
    fails("CopyOfBaseInAFunctionThatGoesOnElsewhere", "mov rbx, rax; mov rax, [rax]; *je far", "48 89 c3 48 8b 00 0f 84 00 10 00 00", 6, 3, 1, Failure::clobbered),
    charges("SumIntoItself", "lea rdx, [rcx+rax]; mov rdx, [rdx]; *nop", "48 8d 14 01 48 8b 12 90", 7, 4, 1, {0, 8, kRegCx, kRegAx, 1, AccessKind::read}),
    charges("AddressOfAGlobal", "lea rdx, [rip+0x100]; mov rdx, [rdx+8]; *nop", "48 8d 15 00 01 00 00 48 8b 52 08 90", 11, 7, 1, {kStart + 0x10f, 8, kRegNone, kRegNone, 1, AccessKind::read}),
    recovers("ElementOfAGlobal", "lea rdx, [rip+0x100]; mov rdx, [rdx+rcx*8]; *nop", "48 8d 15 00 01 00 00 48 8b 14 ca 90", 11, 7, 1, {0, 8, kRegDx, kRegCx, 8, AccessKind::read}, {{{{kCodeBias, 1}, {kRegCx, 8}}, kStart + 0x107}}),
    recovers("ConstantAddress", "mov edx, 0x404040; mov rdx, [rdx]; *nop", "ba 40 40 40 00 48 8b 12 90", 8, 5, 1, {0, 8, kRegDx, kRegNone, 1, AccessKind::read}, {{{}, 0x404040}}),
    recovers("ExtendedIndex", "movsxd rcx, edx; add edx, 1; mov rcx, [rsi+rcx*8]; add rax, rcx; *cmp edi, edx", "48 63 ca 83 c2 01 48 8b 0c ce 48 01 c8 39 d7", 13, 6, 2, {0, 8, kRegSi, kRegCx, 8, AccessKind::read}, {{{{kRegDx, 1}, {}}, ~0ull, 32, true}, {{{kRegSi, 1}, {kFirstStep, 8}}, 0}}),
    recovers("HalfOfAnIndex", "mov ecx, edx; shr rcx, 3; mov rcx, [rsi+rcx]; *nop", "89 d1 48 c1 e9 03 48 8b 0c 0e 90", 10, 6, 1, {0, 8, kRegSi, kRegCx, 1, AccessKind::read}, {{{{kRegDx, 1}, {}}, 0, 32}, {{{kFirstStep, 1}, {}}, 0, 64, false, 3}, {{{kRegSi, 1}, {kFirstStep + 1, 1}}, 0}}),
    recovers("MaskedIndex", "mov ecx, edx; and ecx, 7; mov rcx, [rsi+rcx*8]; *nop", "89 d1 83 e1 07 48 8b 0c ce 90", 9, 5, 1, {0, 8, kRegSi, kRegCx, 8, AccessKind::read}, {{{{kRegDx, 1}, {}}, 0, 3}, {{{kRegSi, 1}, {kFirstStep, 8}}, 0}}),
    fails("MaskOfOtherBits", "mov ecx, edx; and ecx, 6; mov rcx, [rsi+rcx*8]; *nop", "89 d1 83 e1 06 48 8b 0c ce 90", 9, 5, 1, Failure::clobbered),
    fails("PartOfBaseWritten", "mov rbx, rax; mov bl, 1; mov rax, [rax]; *nop", "48 89 c3 b3 01 48 8b 00 90", 8, 5, 1, Failure::clobbered),
    fails("CmovOfBase", "cmove rbx, rax; mov rax, [rax]; *nop", "48 0f 44 d8 48 8b 00 90", 7, 4, 1, Failure::clobbered),
    charges("StoredInFrame", "mov [rbp-8], rbx; mov rax, [rbp-8]; mov rax, [rax]; *nop", "48 89 5d f8 48 8b 45 f8 48 8b 00 90", 11, 8, 1, {0, 8, kRegBx, kRegNone, 1, AccessKind::read}),
    recovers("StoredWider", "mov [rbp-8], rbx; mov eax, [rbp-8]; mov eax, [rdi+rax*4]; *nop", "48 89 5d f8 8b 45 f8 8b 04 87 90", 10, 7, 1, {0, 4, kRegDi, kRegAx, 4, AccessKind::read}, {{{{kRegBx, 1}, {}}, 0, 32}, {{{kRegDi, 1}, {kFirstStep, 4}}, 0}}),
    fails("StoredNarrower", "mov [rbp-8], ebx; mov rax, [rbp-8]; mov rax, [rax]; *nop", "89 5d f8 48 8b 45 f8 48 8b 00 90", 10, 7, 1, Failure::clobbered),
    recovers("StoredSigned", "mov [rbp-4], ebx; movsxd rcx, dword ptr [rbp-4]; mov rcx, [rdi+rcx*8]; *nop", "89 5d fc 48 63 4d fc 48 8b 0c cf 90", 11, 7, 1, {0, 8, kRegDi, kRegCx, 8, AccessKind::read}, {{{{kRegBx, 1}, {}}, 0, 32, true}, {{{kRegDi, 1}, {kFirstStep, 8}}, 0}}),
    charges("StoredConstant", "mov qword ptr [rbp-8], 64; mov rax, [rbp-8]; mov rax, [rdi+rax]; *nop", "48 c7 45 f8 40 00 00 00 48 8b 45 f8 48 8b 04 07 90", 16, 12, 1, {64, 8, kRegDi, kRegNone, 1, AccessKind::read}),
    charges("LoadedBefore", "mov rcx, [rbp-8]; mov rax, [rbp-8]; mov rax, [rax]; *nop", "48 8b 4d f8 48 8b 45 f8 48 8b 00 90", 11, 8, 1, {0, 8, kRegCx, kRegNone, 1, AccessKind::read}),
    charges("OtherSlotBetween", "mov [rbp-8], rbx; mov [rbp-16], rcx; mov rax, [rbp-8]; mov rax, [rax]; *nop", "48 89 5d f8 48 89 4d f0 48 8b 45 f8 48 8b 00 90", 15, 12, 1, {0, 8, kRegBx, kRegNone, 1, AccessKind::read}),
    fails("PartOfSlotBetween", "mov [rbp-8], rbx; mov [rbp-4], ecx; mov rax, [rbp-8]; mov rax, [rax]; *nop", "48 89 5d f8 89 4d fc 48 8b 45 f8 48 8b 00 90", 14, 11, 1, Failure::clobbered),
    fails("PointerBetween", "mov [rbp-8], rbx; mov [rdi], ecx; mov rax, [rbp-8]; mov rax, [rax]; *nop", "48 89 5d f8 89 0f 48 8b 45 f8 48 8b 00 90", 13, 10, 1, Failure::clobbered),
    charges("StackPointerMoved", "mov [rsp+8], rbx; push rcx; mov rax, [rsp+16]; mov rax, [rax]; *nop", "48 89 5c 24 08 51 48 8b 44 24 10 48 8b 00 90", 14, 11, 1, {0, 8, kRegBx, kRegNone, 1, AccessKind::read}),
    fails("PushOverSlot", "mov [rsp-8], rbx; push rcx; mov rax, [rsp]; mov rax, [rax]; *nop", "48 89 5c 24 f8 51 48 8b 04 24 48 8b 00 90", 13, 10, 1, Failure::clobbered),
    fails("PushOfMemoryBetween", "mov [rsp+8], rbx; push [rdi]; mov rax, [rsp+16]; mov rax, [rax]; *nop", "48 89 5c 24 08 ff 37 48 8b 44 24 10 48 8b 00 90", 15, 12, 1, Failure::clobbered),
    fails("FrameMoved", "mov [rbp-8], rbx; mov rbp, rdx; mov rax, [rbp-8]; mov rax, [rax]; *nop", "48 89 5d f8 48 89 d5 48 8b 45 f8 48 8b 00 90", 14, 11, 1, Failure::clobbered),
    fails("StoredThroughPointer", "mov [rdi], rbx; mov rax, [rdi]; mov rax, [rax]; *nop", "48 89 1f 48 8b 07 48 8b 00 90", 9, 6, 1, Failure::clobbered),
    charges("FrameOfALoop", "push rbp; mov rbp, rsp; mov [rbp-8], rdi; 8: mov rax, [rbp-8]; mov eax, [rax+rcx*4]; *inc rcx; jne 8b; pop rbp; ret", "55 48 89 e5 48 89 7d f8 48 8b 45 f8 8b 04 88 48 ff c1 75 f4 5d c3", 15, 12, 1, {0, 4, kRegDi, kRegCx, 4, AccessKind::read}),
    fails("FrameOfALoopThatOverwrites", "push rbp; mov rbp, rsp; mov [rbp-8], rdi; 8: mov rax, [rbp-8]; mov eax, [rax+rcx*4]; *inc rdi; jne 8b; pop rbp; ret", "55 48 89 e5 48 89 7d f8 48 8b 45 f8 8b 04 88 48 ff c7 75 f4 5d c3", 15, 12, 1, Failure::clobbered),
    fails("FrameOfALoopThatStores", "push rbp; mov rbp, rsp; mov [rbp-8], rdi; 8: mov rax, [rbp-8]; mov eax, [rax]; *mov [rbp-8], rcx; jne 8b; pop rbp; ret", "55 48 89 e5 48 89 7d f8 48 8b 45 f8 8b 00 48 89 4d f8 75 f4 5d c3", 14, 12, 1, Failure::clobbered),
    charges("FrameOfALoopThatStoresByPointer", "push rbp; mov rbp, rsp; mov [rbp-8], rdi; 8: mov rax, [rbp-8]; mov eax, [rax]; *mov [rdi], rcx; jne 8b; pop rbp; ret", "55 48 89 e5 48 89 7d f8 48 8b 45 f8 8b 00 48 89 0f 75 f5 5d c3", 14, 12, 1, {0, 4, kRegDi, kRegNone, 1, AccessKind::read}),
    fails("FrameGivenAway", "push rbp; mov rbp, rsp; mov [rbp-8], rdi; 8: mov rax, [rbp-8]; mov eax, [rax]; *lea rsi, [rbp-8]; jne 8b; pop rbp; ret", "55 48 89 e5 48 89 7d f8 48 8b 45 f8 8b 00 48 8d 75 f8 75 f4 5d c3", 14, 12, 1, Failure::clobbered),
    fails("FrameOfALoopThatCalls", "push rbp; mov rbp, rsp; mov [rbp-8], rdi; 8: mov rax, [rbp-8]; mov eax, [rax]; *call rcx; jne 8b; pop rbp; ret", "55 48 89 e5 48 89 7d f8 48 8b 45 f8 8b 00 ff d1 75 f6 5d c3", 14, 12, 1, Failure::clobbered),
    charges("FrameOfALoopThatCallsAndKeeps", "push rbp; mov rbp, rsp; mov [rbp-8], rbx; 8: mov rax, [rbp-8]; mov eax, [rax]; *call rcx; jne 8b; pop rbp; ret", "55 48 89 e5 48 89 5d f8 48 8b 45 f8 8b 00 ff d1 75 f6 5d c3", 14, 12, 1, {0, 4, kRegBx, kRegNone, 1, AccessKind::read}),
    fails("NoFrame", "push rbp; mov [rbp-8], rdi; 8: mov rax, [rbp-8]; mov eax, [rax]; *inc rcx; jne 8b; pop rbp; ret", "55 48 89 7d f8 48 8b 45 f8 8b 00 48 ff c1 75 f5 5d c3", 11, 9, 1, Failure::clobbered),
    charges("CopyFromBase", "mov ecx, [rax]; mov rbx, rax; *nop", "8b 08 48 89 c3 90", 5, 0, 2, {0, 4, kRegAx, kRegNone, 1, AccessKind::read}),
    fails("CopyIntoBase", "mov ecx, [rax]; mov rax, rbx; *nop", "8b 08 48 89 d8 90", 5, 0, 2, Failure::clobbered),
    charges("AddImmediate", "mov ecx, [rax]; add rax, 4; *nop", "8b 08 48 83 c0 04 90", 6, 0, 2, {-4, 4, kRegAx, kRegNone, 1, AccessKind::read}),
    charges("AddImmediate32", "mov ecx, [rax]; add rax, 0x12345; *nop", "8b 08 48 05 45 23 01 00 90", 8, 0, 2, {-0x12345, 4, kRegAx, kRegNone, 1, AccessKind::read}),
    charges("AddNegative", "mov ecx, [rax]; add rax, -128; *nop", "8b 08 48 83 c0 80 90", 6, 0, 2, {128, 4, kRegAx, kRegNone, 1, AccessKind::read}),
    charges("SubImmediate", "mov ecx, [rax+8]; sub rax, 16; *nop", "8b 48 08 48 83 e8 10 90", 7, 0, 2, {24, 4, kRegAx, kRegNone, 1, AccessKind::read}),
    charges("AddToIndex", "mov ecx, [rax+rdx*8]; add rdx, 3; *nop", "8b 0c d0 48 83 c2 03 90", 7, 0, 2, {-24, 4, kRegAx, kRegDx, 8, AccessKind::read}),
    charges("AddToBaseThatIsAlsoIndex", "mov ecx, [rax+rax*4]; inc rax; *nop", "8b 0c 80 48 ff c0 90", 6, 0, 2, {-5, 4, kRegAx, kRegAx, 4, AccessKind::read}),
    charges("IncDec", "mov ecx, [rax+rdx*2]; inc rax; dec rdx; *nop", "8b 0c 50 48 ff c0 48 ff ca 90", 9, 0, 3, {1, 4, kRegAx, kRegDx, 2, AccessKind::read}),
    charges("LeaSelf", "mov ecx, [rax]; lea rax, [rax+64]; *nop", "8b 08 48 8d 40 40 90", 6, 0, 2, {-64, 4, kRegAx, kRegNone, 1, AccessKind::read}),
    charges("LeaSelfTwice", "mov ecx, [rax]; lea rax, [rax+64]; add rax, 1; *nop", "8b 08 48 8d 40 40 48 83 c0 01 90", 10, 0, 3, {-65, 4, kRegAx, kRegNone, 1, AccessKind::read}),
    fails("LeaOther", "mov ecx, [rax]; lea rax, [rbx+64]; *nop", "8b 08 48 8d 43 40 90", 6, 0, 2, Failure::clobbered),
    recovers("LeaIndexed", "mov ecx, [rax]; lea rax, [rax+rbx*8]; *nop", "8b 08 48 8d 04 d8 90", 6, 0, 2, {0, 4, kRegAx, kRegNone, 1, AccessKind::read}, {{{{kRegAx, 1}, {kRegBx, -8ull}}, 0}}),
    fails("Lea32", "mov ecx, [rax]; lea eax, [rax+64]; *nop", "8b 08 8d 40 40 90", 5, 0, 2, Failure::clobbered),
    fails("LeaAddr32", "mov ecx, [rax]; lea rax, [eax+64]; *nop", "8b 08 67 48 8d 40 40 90", 7, 0, 2, Failure::clobbered),
    fails("Add32", "mov ecx, [rax]; add eax, 4; *nop", "8b 08 83 c0 04 90", 5, 0, 2, Failure::clobbered),
    fails("Add16", "mov ecx, [rax]; add ax, 4; *nop", "8b 08 66 83 c0 04 90", 6, 0, 2, Failure::clobbered),
    recovers("AddRegister", "mov ecx, [rax]; add rax, rbx; *nop", "8b 08 48 01 d8 90", 5, 0, 2, {0, 4, kRegAx, kRegNone, 1, AccessKind::read}, {{{{kRegAx, 1}, {kRegBx, -1ull}}, 0}}),
    fails("AddLoadedValue", "mov ecx, [rax]; add rax, rcx; xor ecx, ecx; *nop", "8b 08 48 01 c8 31 c9 90", 7, 0, 3, Failure::clobbered),
    fails("AddRecoveredThenClobbered", "mov ecx, [rax]; add rax, 4; xor eax, eax; *nop", "8b 08 48 83 c0 04 31 c0 90", 8, 0, 3, Failure::clobbered),
    fails("SelfLoadThenAdd", "mov rax, [rax]; add rax, 4; *nop", "48 8b 00 48 83 c0 04 90", 7, 0, 2, Failure::clobbered),
    charges("OtherRegisterWritten", "mov ecx, [rax]; add rbx, 4; imul rdx, rcx; *nop", "8b 08 48 83 c3 04 48 0f af d1 90", 10, 0, 3, {0, 4, kRegAx, kRegNone, 1, AccessKind::read}),
    charges("StackPointerMoves", "mov ecx, [rsp+8]; lea rbx, [rsp]; sub rsp, 32; *nop", "8b 4c 24 08 48 8d 1c 24 48 83 ec 20 90", 12, 0, 3, {40, 4, kRegSp, kRegNone, 1, AccessKind::read}),
    charges("PushItself", "push rbx; *nop", "53 90", 1, 0, 1, {0, 8, kRegSp, kRegNone, 1, AccessKind::write}),
    charges("PopItself", "pop rbx; *nop", "5b 90", 1, 0, 1, {-8, 8, kRegSp, kRegNone, 1, AccessKind::read}),
    charges("PushMemory", "push [rax+8]; *nop", "ff 70 08 90", 3, 0, 1, {8, 8, kRegAx, kRegNone, 1, AccessKind::read}),
    charges("PushMemoryOffStack", "push [rsp+8]; *nop", "ff 74 24 08 90", 4, 0, 1, {16, 8, kRegSp, kRegNone, 1, AccessKind::read}),
    charges("PopMemoryOffStack", "pop [rsp+8]; *nop", "8f 44 24 08 90", 4, 0, 1, {8, 8, kRegSp, kRegNone, 1, AccessKind::write}),
    fails("PopOwnBase", "pop rsp; *nop", "5c 90", 1, 0, 1, Failure::clobbered),
    charges("PushPopNearest", "mov [rdi], ecx; pop rbx; *ret", "89 0f 5b c3", 3, 2, 1, {-8, 8, kRegSp, kRegNone, 1, AccessKind::read}),
    charges("Push16", "push bx; *nop", "66 53 90", 2, 0, 1, {0, 2, kRegSp, kRegNone, 1, AccessKind::write}),
    charges("LeaveKnowsItsFrame", "leave; *ret", "c9 c3", 1, 0, 1, {-8, 8, kRegSp, kRegNone, 1, AccessKind::read}),
    charges("EnterKnowsItsFrame", "enter 32, 0; *nop", "c8 20 00 00 90", 4, 0, 1, {32, 8, kRegSp, kRegNone, 1, AccessKind::write}),
    fails("NestedEnter", "enter 32, 1; *nop", "c8 20 00 01 90", 4, 0, 1, Failure::clobbered),
    charges("EnterClobbersFrame", "lea rax, [rbp]; mov ecx, [rbp+8]; *enter 32, 0", "48 8d 45 00 8b 4d 08 c8 20 00 00", 7, 4, 1, {8, 4, kRegBp, kRegNone, 1, AccessKind::read}),
    fails("Mul", "mov ecx, [rdx]; mul rbx; *nop", "8b 0a 48 f7 e3 90", 5, 0, 2, Failure::clobbered),
    fails("Mul8", "mov ecx, [rax]; mul bl; *nop", "8b 08 f6 e3 90", 4, 0, 2, Failure::clobbered),
    charges("Imul3", "mov ecx, [rax]; imul rbx, rdx, 3; *nop", "8b 08 48 6b da 03 90", 6, 0, 2, {0, 4, kRegAx, kRegNone, 1, AccessKind::read}),
    fails("Div", "mov ecx, [rax]; div rbx; *nop", "8b 08 48 f7 f3 90", 5, 0, 2, Failure::clobbered),
    fails("Cdq", "mov ecx, [rdx]; cdq; *nop", "8b 0a 99 90", 3, 0, 2, Failure::clobbered),
    fails("Cdqe", "mov ecx, [rax]; cdqe; *nop", "8b 08 48 98 90", 4, 0, 2, Failure::clobbered),
    fails("Cpuid", "mov esi, [rbx]; cpuid; *nop", "8b 33 0f a2 90", 4, 0, 2, Failure::clobbered),
    fails("Rdtsc", "mov esi, [rdx]; rdtsc; *nop", "8b 32 0f 31 90", 4, 0, 2, Failure::clobbered),
    fails("Rdtscp", "mov esi, [rcx]; rdtscp; *nop", "8b 31 0f 01 f9 90", 5, 0, 2, Failure::clobbered),
    fails("Xgetbv", "mov esi, [rdx]; xgetbv; *nop", "8b 32 0f 01 d0 90", 5, 0, 2, Failure::clobbered),
    fails("Rdrand", "mov esi, [r9]; rdrand r9; *nop", "41 8b 31 49 0f c7 f1 90", 7, 0, 2, Failure::clobbered),
    fails("Lahf", "mov esi, [rax]; lahf; *nop", "8b 30 9f 90", 3, 0, 2, Failure::clobbered),
    fails("XchgRegisters", "mov ecx, [rax]; xchg rax, rbx; *nop", "8b 08 48 93 90", 4, 0, 2, Failure::clobbered),
    fails("XchgMemoryIntoBase", "xchg [rax], rax; *nop", "48 87 00 90", 3, 0, 1, Failure::clobbered),
    fails("XaddMemory", "lock xadd [rdi], rdi; *nop", "f0 48 0f c1 3f 90", 5, 0, 1, Failure::clobbered),
    fails("CmpxchgWritesRax", "lock cmpxchg [rax], rcx; *nop", "f0 48 0f b1 08 90", 5, 0, 1, Failure::clobbered),
    charges("CmpxchgOtherBase", "lock cmpxchg [rdi], rcx; *jne .-5", "f0 48 0f b1 0f 75 f9", 5, 0, 1, {0, 8, kRegDi, kRegNone, 1, AccessKind::readWrite, true}),
    fails("Cmpxchg16bWritesRdx", "lock cmpxchg16b [rdx]; *nop", "f0 48 0f c7 0a 90", 5, 0, 1, Failure::clobbered),
    fails("CmovMayWrite", "mov ecx, [rax]; cmovne rax, rbx; *nop", "8b 08 48 0f 45 c3 90", 6, 0, 2, Failure::clobbered),
    fails("Setcc", "mov ecx, [rax]; sete al; *nop", "8b 08 0f 94 c0 90", 5, 0, 2, Failure::clobbered),
    fails("Bswap", "mov ecx, [rax]; bswap rax; *nop", "8b 08 48 0f c8 90", 5, 0, 2, Failure::clobbered),
    charges("Popcnt", "mov ecx, [rax]; popcnt rbx, rax; *nop", "8b 08 f3 48 0f b8 d8 90", 7, 0, 2, {0, 4, kRegAx, kRegNone, 1, AccessKind::read}),
    fails("Mulx", "mov esi, [rbx]; mulx rbx, rcx, rax; *nop", "8b 33 c4 e2 f3 f6 d8 90", 7, 0, 2, Failure::clobbered),
    fails("MovqFromVector", "mov ecx, [rax]; movq rax, xmm0; *nop", "8b 08 66 48 0f 7e c0 90", 7, 0, 2, Failure::clobbered),
    fails("Pmovmskb", "movdqu xmm0, [rax]; pmovmskb eax, xmm0; *nop", "f3 0f 6f 00 66 0f d7 c0 90", 8, 0, 2, Failure::clobbered),
    charges("VpmovmskbOther", "vmovdqu ymm0, [rax]; vpmovmskb ecx, ymm0; *nop", "c5 fe 6f 00 c5 fd d7 c8 90", 8, 0, 2, {0, 32, kRegAx, kRegNone, 1, AccessKind::read}),
    fails("Pcmpestri", "mov esi, [rcx]; pcmpestri xmm0, xmm1, 0; *nop", "8b 31 66 0f 3a 61 c1 00 90", 8, 0, 2, Failure::clobbered),
    fails("Kmov", "mov ecx, [rax]; kmovq rax, k1; *nop", "8b 08 c4 e1 fb 93 c1 90", 7, 0, 2, Failure::clobbered),
    fails("Movsb", "movsb; *nop", "a4 90", 1, 0, 1, Failure::clobbered),
    fails("Cmpsb", "cmpsb; *nop", "a6 90", 1, 0, 1, Failure::clobbered),
    fails("Scasb", "scasb; *nop", "ae 90", 1, 0, 1, Failure::clobbered),
    fails("Lodsb", "lodsb; *nop", "ac 90", 1, 0, 1, Failure::clobbered),
    fails("RepStosThenNext", "rep stosq; *ret", "f3 48 ab c3", 3, 0, 1, Failure::clobbered),
    charges("RepStosIsItsOwnAccess", "mov ecx, [rsi]; *rep stosq", "8b 0e f3 48 ab", 2, 2, 0, {0, 8, kRegDi, kRegNone, 1, AccessKind::write, false, true}),
    charges("RepneScasIsItsOwnAccess", "mov ecx, [rsi]; *repne scasb", "8b 0e f2 ae", 2, 2, 0, {0, 1, kRegDi, kRegNone, 1, AccessKind::read, false, true}),
    charges("PlainStosAfterLoad", "mov ecx, [rsi]; *stosb", "8b 0e aa", 2, 0, 1, {0, 4, kRegSi, kRegNone, 1, AccessKind::read}),
    fails("Xlat", "mov ecx, [rsi]; xlatb; *nop", "8b 0e d7 90", 3, 2, 1, Failure::noMemoryOperand),
    fails("Gather", "mov ecx, [rsi]; vpgatherdd zmm0{k1}, [rax+zmm1*4]; *nop", "8b 0e 62 f2 7d 49 90 04 88 90", 9, 2, 1, Failure::noMemoryOperand),
    fails("ThreadLocalBefore", "mov ecx, [rsi]; mov rax, fs:[0x28]; *mov [rsp+8], rax", "8b 0e 64 48 8b 04 25 28 00 00 00 48 89 44 24 08", 11, 2, 1, Failure::threadLocal),
    fails("ThreadLocalOwn", "xor ecx, ecx; *mov rax, fs:[0x28]", "31 c9 64 48 8b 04 25 28 00 00 00", 2, 2, 0, Failure::threadLocal),
    charges("CallEndsBlock", "lock add dword ptr [rdi], 1; call 9f; *mov rax, [rsi]; 9: ret", "f0 83 07 01 e8 03 00 00 00 48 8b 06 c3", 9, 9, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("CallItselfAfterAccess", "lock add dword ptr [rdi], 1; *call 9f; 9: ret", "f0 83 07 01 e8 00 00 00 00 c3", 4, 0, 1, {0, 4, kRegDi, kRegNone, 1, AccessKind::readWrite, true}),
    charges("CallAlone", "*call 9f; 9: ret", "e8 00 00 00 00 c3", 0, 0, 0, {-8, 8, kRegSp, kRegNone, 1, AccessKind::write}),
    charges("IndirectCallEndsBlock", "call [rax]; *mov rcx, [rsi]", "ff 10 48 8b 0e", 2, 2, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("SyscallEndsBlock", "mov ecx, [rdi]; syscall; *mov rax, [rsi]", "8b 0f 0f 05 48 8b 06", 4, 4, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("BranchEndsBlock", "lock add dword ptr [rdi], 1; jne 9f; *mov rax, [rsi]; 9: ret", "f0 83 07 01 75 03 48 8b 06 c3", 6, 6, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("BranchItself", "lock sub dword ptr [rdi], 1; *jne 9f; nop; 9: ret", "f0 83 2f 01 75 01 90 c3", 4, 0, 1, {0, 4, kRegDi, kRegNone, 1, AccessKind::readWrite, true}),
    charges("IndirectJumpEndsBlock", "mov ecx, [rdi]; jmp rax; *mov rax, [rsi]", "8b 0f ff e0 48 8b 06", 4, 4, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("ReturnEndsBlock", "ret; *mov rax, [rsi]", "c3 48 8b 06", 1, 1, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("TrapEndsBlock", "mov ecx, [rdi]; ud2; *mov rax, [rsi]", "8b 0f 0f 0b 48 8b 06", 4, 4, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("LoopEndsBlock", "8: mov edx, [rdi]; loop 8b; *mov rax, [rsi]", "8b 17 e2 fc 48 8b 06", 4, 4, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("ForwardBranchTarget", "je 9f; mov ecx, [rdi]; *9: mov rax, [rsi]", "74 02 8b 0f 48 8b 06", 4, 4, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("BackwardBranchTarget", "mov ecx, [rdi]; *8: mov rax, [rsi]; test rax, rax; je 8b; ret", "8b 0f 48 8b 06 48 85 c0 74 f8 c3", 2, 2, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("AfterBranchTarget", "mov ecx, [rdi]; 8: mov rax, [rsi]; *test rax, rax; je 8b; ret", "8b 0f 48 8b 06 48 85 c0 74 f8 c3", 5, 2, 1, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("SpinWait", "8: mov eax, [rdi]; test eax, eax; *je 8b; ret", "8b 07 85 c0 74 fa c3", 4, 0, 2, {0, 4, kRegDi, kRegNone, 1, AccessKind::read}),
    charges("SpinWaitHead", "mov ecx, [rsi]; *8: mov eax, [rdi]; test eax, eax; je 8b; ret", "8b 0e 8b 07 85 c0 74 fa c3", 2, 2, 0, {0, 4, kRegDi, kRegNone, 1, AccessKind::read}),
    fails("BranchTargetWithoutAccess", "mov ecx, [rdi]; *8: dec rbx; jne 8b; ret", "8b 0f 48 ff cb 75 fb c3", 2, 2, 0, Failure::noMemoryOperand),
    charges("BranchOutsideIsNoLeader", "mov ecx, [rdi]; *mov rax, [rsi]; jmp .-0x1000", "8b 0f 48 8b 06 e9 fb ef ff ff", 2, 0, 1, {0, 4, kRegDi, kRegNone, 1, AccessKind::read}),
    charges("TransactionAbortTarget", "xbegin 9f; mov ecx, [rdi]; *9: mov rax, [rsi]", "c7 f8 02 00 00 00 8b 0f 48 8b 06", 8, 8, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("JumpOverLockPrefix", "mov ecx, [rsi]; je 9f+1; 9: lock cmpxchg [rdi], ecx; *nop", "8b 0e 74 01 f0 0f b1 0f 90", 8, 4, 1, {0, 4, kRegDi, kRegNone, 1, AccessKind::readWrite, true}),
    charges("SampledAfterLockPrefix", "mov ecx, [rsi]; je 9f; lock; *9: cmpxchg [rdi], ecx; nop", "8b 0e 74 01 f0 0f b1 0f 90", 5, 5, 0, {0, 4, kRegDi, kRegNone, 1, AccessKind::readWrite}),
    charges("UndecodableSeparates", "mov ecx, [rdi]; .byte 0x06; *mov rax, [rsi]", "8b 0f 06 48 8b 06", 3, 3, 0, {0, 8, kRegSi, kRegNone, 1, AccessKind::read}),
    charges("PaddingBetween", "ret; .byte 0xcc,0xcc,0xcc; mov ecx, [rdi]; *nop", "c3 cc cc cc 8b 0f 90", 6, 4, 1, {0, 4, kRegDi, kRegNone, 1, AccessKind::read}),
    charges("RipRelativeKeepsItsAddress", "lock add qword ptr [rip+0x100], 1; xor eax, eax; *mov rbx, [rsi]", "f0 48 83 05 00 01 00 00 01 31 c0 48 8b 1e", 11, 0, 2, {kStart+0+9+0x100, 8, kRegNone, kRegNone, 1, AccessKind::readWrite, true}),
};
// clang-format on

INSTANTIATE_TEST_SUITE_P(Scenarios, SkidTest, testing::ValuesIn(kScenarios),
                         [](const auto& scenario) { return std::string(scenario.param.name); });

TEST(PlanAccess, OutsideTheFunctionIsNoInstruction) {
  const std::vector<uint8_t> code = fromHex("8b 07 c3");
  for (const uint64_t ip : {uint64_t{0}, uint64_t{kStart - 1}, uint64_t{kStart + 3}, ~uint64_t{0}}) {
    EXPECT_EQ(planAccess(code, kStart, ip).failure, Failure::noInstruction) << ip;
  }
  EXPECT_EQ(planAccess({}, kStart, kStart).failure, Failure::noInstruction);
}

TEST(PlanAccess, InsideAnInstructionIsNoInstruction) {
  // mov rax, [rdi+0x12345678]: nothing leads to its fourth byte.
  const std::vector<uint8_t> code = fromHex("48 8b 87 78 56 34 12 c3");
  EXPECT_EQ(planAccess(code, kStart, kStart + 3).failure, Failure::noInstruction);
}

TEST(PlanAccess, WhatIsFarBehindAnAccessIsNoTimeOfIt) {
  std::vector<uint8_t> code = fromHex("8b 07");
  code.insert(code.end(), 400, 0x90);
  code.push_back(0x56);  // push rsi
  const AccessPlan near = planAccess(code, kStart, kStart + 1 + kMostSkid);
  EXPECT_EQ(near.failure, Failure::none);
  EXPECT_EQ(near.codeAddress, uint64_t{kStart});
  EXPECT_EQ(near.skid, kMostSkid);
  for (const uint64_t far : {kStart + 2 + kMostSkid, kStart + 400})
    EXPECT_EQ(planAccess(code, kStart, far).failure, Failure::noMemoryOperand) << far;
  const AccessPlan own = planAccess(code, kStart, kStart + 402);
  EXPECT_EQ(own.codeAddress, kStart + 402) << "as in a block without another access";
  EXPECT_EQ(own.skid, 0);
}

TEST(PlanAccess, AddressesWrapAround) {
  const std::vector<uint8_t> code = fromHex("8b 05 00 20 00 00");  // mov eax, [rip+0x2000]
  const uint64_t start = ~uint64_t{0} - 5;
  const AccessPlan plan = planAccess(code, start, start);
  EXPECT_EQ(plan.failure, Failure::none);
  EXPECT_EQ(plan.operand.displacement, 0x2000);
}

TEST(EffectiveAddress, AddsItsParts) {
  Registers registers;
  registers.mask = (1ull << kRegAx) | (1ull << kRegR9);
  registers.value[kRegAx] = 0x7000;
  registers.value[kRegR9] = 3;
  uint64_t address = 0;
  ASSERT_TRUE(effectiveAddress({-16, 8, kRegAx, kRegR9, 8}, registers, address));
  EXPECT_EQ(address, 0x7000u + 24 - 16);
  ASSERT_TRUE(effectiveAddress({0x404040, 8}, registers, address));
  EXPECT_EQ(address, 0x404040u);
}

TEST(EffectiveAddress, NeedsEveryRegister) {
  Registers registers;
  registers.mask = 1ull << kRegAx;
  uint64_t address = 42;
  EXPECT_FALSE(effectiveAddress({0, 8, kRegBx}, registers, address));
  EXPECT_FALSE(effectiveAddress({0, 8, kRegAx, kRegBx}, registers, address));
  EXPECT_EQ(address, 42u);
}

}  // namespace
}  // namespace cacheline::decode
