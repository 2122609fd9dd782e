// Zydis as all of native/decode uses it.
#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>
#include <span>

namespace cacheline::decode {

/// The instruction at the start of `bytes` with all of its operands. False where there is none.
bool decodeFully(std::span<const uint8_t> bytes, ZydisDecodedInstruction& decoded,
                 ZydisDecodedOperand (&operands)[ZYDIS_MAX_OPERAND_COUNT]);

/// The X86Register around any part of it (al, ah, ax, eax, rax); kRegNone for others.
uint8_t enclosingRegister(ZydisRegister reg);

}  // namespace cacheline::decode
