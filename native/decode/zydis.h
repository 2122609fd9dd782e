// Zydis as all of native/decode uses it.
#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>
#include <span>

#include "decode/instruction.h"
#include "decode/sum.h"

namespace cacheline::decode {

/// The instruction at the start of `bytes` with all of its operands. False where there is none.
bool decodeFully(std::span<const uint8_t> bytes, ZydisDecodedInstruction& decoded,
                 ZydisDecodedOperand (&operands)[ZYDIS_MAX_OPERAND_COUNT]);

/// What decodeFlow() says of it.
Flow flowOf(const ZydisDecodedInstruction& decoded);

/// The X86Register of all 64 bits of a general-purpose register; kRegNone for others.
uint8_t wholeRegister(ZydisRegister reg);
/// The X86Register around any part of it (al, ah, ax, eax, rax); kRegNone for others.
uint8_t enclosingRegister(ZydisRegister reg);

/// The stack slot that push, pop, call, ret, enter and pushf use without naming it.
bool isStackSlot(const ZydisDecodedOperand& operand);

/// What the instruction leaves in one register: moves, extensions, constants, sums, products with and shifts
/// by constants, and moves of the stack pointer. All operands are given; `address` is the instruction's.
Definition definitionOf(const ZydisDecodedInstruction& decoded, std::span<const ZydisDecodedOperand> operands,
                        uint64_t address);

/// Of mov, movzx, movsx and movsxd: the register that takes a memory operand; what a memory operand is set
/// to. All operands are given.
Load loadOf(const ZydisDecodedInstruction& decoded, std::span<const ZydisDecodedOperand> operands);
std::optional<Sum> storedBy(const ZydisDecodedInstruction& decoded,
                            std::span<const ZydisDecodedOperand> operands);

}  // namespace cacheline::decode
