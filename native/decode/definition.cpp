// Zydis' operands, turned into the value that an instruction leaves in a register.
#include <bit>
#include <optional>

#include "decode/instruction.h"
#include "decode/sum.h"
#include "decode/zydis.h"

namespace cacheline::decode {
namespace {

struct GeneralRegister {
  uint8_t reg = kRegNone;
  uint8_t bits = 0;
};

/// A general-purpose register from its lowest bit: not ah, bh, ch, dh.
GeneralRegister generalRegister(const ZydisDecodedOperand& operand) {
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return {};
  const ZydisRegister reg = operand.reg.value;
  if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH) return {};
  const uint8_t enclosing = enclosingRegister(reg);
  if (enclosing == kRegNone) return {};
  return {enclosing, static_cast<uint8_t>(operand.size)};
}

/// The value of a register or an immediate of the width of the operation.
std::optional<Sum> plain(const ZydisDecodedOperand& operand, uint8_t bits) {
  Sum sum;
  sum.bits = bits;
  if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    sum.constant = operand.imm.value.u;
    return sum;
  }
  const GeneralRegister from = generalRegister(operand);
  if (from.reg == kRegNone || from.bits != bits) return {};
  sum.add(from.reg, 1);
  return sum;
}

std::optional<Sum> extended(const ZydisDecodedOperand& operand, bool isSigned) {
  const GeneralRegister from = generalRegister(operand);
  if (from.reg == kRegNone) return {};
  Sum sum;
  sum.add(from.reg, 1);
  sum.bits = from.bits;
  sum.isSigned = isSigned;
  return sum;
}

/// The address that a lea makes.
std::optional<Sum> agen(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand& operand,
                        uint64_t address, uint8_t bits) {
  const auto& mem = operand.mem;
  if (decoded.address_width != 64) return {};
  Sum sum;
  sum.bits = bits;
  sum.constant = static_cast<uint64_t>(mem.disp.value);
  if (mem.base == ZYDIS_REGISTER_RIP) {
    sum.constant += address + decoded.length;
    sum.add(kCodeBias, 1);
  } else if (mem.base != ZYDIS_REGISTER_NONE) {
    sum.add(enclosingRegister(mem.base), 1);
  }
  if (mem.index != ZYDIS_REGISTER_NONE) sum.add(enclosingRegister(mem.index), mem.scale);
  return sum;
}

std::optional<Sum> plus(uint8_t reg, uint8_t bits, const std::optional<Sum>& other, uint64_t factor) {
  if (!other) return {};
  Sum sum;
  sum.bits = bits;
  sum.add(reg, 1);
  sum.add(other->terms[0].part, factor);
  sum.constant = other->constant * factor;
  return sum;
}

Sum times(uint8_t reg, uint8_t bits, uint64_t factor, uint64_t constant = 0) {
  Sum sum;
  sum.bits = bits;
  sum.add(reg, factor);
  sum.constant = constant;
  return sum;
}

std::optional<Sum> shiftedRight(uint8_t reg, uint8_t bits, uint8_t by, bool isSigned) {
  if (isSigned && bits != 64) return {};  // the 32 bits above are zero, not the sign
  Sum sum = times(reg, bits, 1);
  sum.isSigned = isSigned;
  sum.shift = by;
  return sum;
}

/// What `operands[0]`, a whole register or the lower half of one, which zeroes the upper one, is set to.
std::optional<Sum> valueOf(const ZydisDecodedInstruction& decoded,
                           std::span<const ZydisDecodedOperand> operands, uint64_t address) {
  const auto [reg, bits] = generalRegister(operands[0]);
  const bool hasImmediate = operands.size() > 1 && operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  const auto count = static_cast<uint8_t>(hasImmediate ? operands[1].imm.value.u & (bits - 1u) : 0);
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
      return plain(operands[1], bits);
    case ZYDIS_MNEMONIC_MOVZX:
      return extended(operands[1], false);
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
      if (bits == 64) return extended(operands[1], true);
      return {};
    case ZYDIS_MNEMONIC_CDQE:
      return Sum{{{kRegAx, 1}, {}}, 0, 32, true, 0};
    case ZYDIS_MNEMONIC_LEA:
      return agen(decoded, operands[1], address, bits);
    case ZYDIS_MNEMONIC_ADD:
      return plus(reg, bits, plain(operands[1], bits), 1);
    case ZYDIS_MNEMONIC_SUB:
      return plus(reg, bits, plain(operands[1], bits), ~uint64_t{0});
    case ZYDIS_MNEMONIC_INC:
      return times(reg, bits, 1, 1);
    case ZYDIS_MNEMONIC_DEC:
      return times(reg, bits, 1, ~uint64_t{0});
    case ZYDIS_MNEMONIC_NEG:
      return times(reg, bits, ~uint64_t{0});
    case ZYDIS_MNEMONIC_SHL:
      if (hasImmediate) return times(reg, bits, uint64_t{1} << count);
      return {};
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
      if (hasImmediate) return shiftedRight(reg, bits, count, decoded.mnemonic == ZYDIS_MNEMONIC_SAR);
      return {};
    case ZYDIS_MNEMONIC_IMUL: {
      if (decoded.operand_count_visible != 3) return {};
      const GeneralRegister from = generalRegister(operands[1]);
      if (from.reg == kRegNone) return {};
      return times(from.reg, bits, operands[2].imm.value.u);
    }
    case ZYDIS_MNEMONIC_AND: {
      const uint64_t mask = hasImmediate ? operands[1].imm.value.u & (~uint64_t{0} >> (64 - bits)) : 0;
      if (mask == 0 || !std::has_single_bit(mask + 1)) return {};
      return times(reg, static_cast<uint8_t>(std::bit_width(mask)), 1);
    }
    case ZYDIS_MNEMONIC_XOR: {
      const GeneralRegister other = generalRegister(operands[1]);
      if (other.reg == reg && other.bits == bits) return times(reg, bits, 0);
      return {};
    }
    default:
      return {};
  }
}

/// Moves of the stack pointer that the encoding does not name.
Definition stackMove(const ZydisDecodedInstruction& decoded, std::span<const ZydisDecodedOperand> operands) {
  const auto moved = [](uint8_t from, uint64_t by) { return Definition{kRegSp, times(from, 64, 1, by)}; };
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_ENTER:  // push rbp; mov rbp, rsp; sub rsp, size: nested frames push more
      if (decoded.operand_width != 64 || operands[1].imm.value.u != 0) return {};
      return moved(kRegSp, ~uint64_t{7} - operands[0].imm.value.u);
    case ZYDIS_MNEMONIC_LEAVE:  // mov rsp, rbp; pop rbp: rsp now tells what rbp was
      return decoded.operand_width == 64 ? moved(kRegBp, 8) : Definition{};
    default:
      break;
  }
  // pop rsp: the value popped wins over the move of the stack pointer.
  if (decoded.meta.category == ZYDIS_CATEGORY_POP && generalRegister(operands[0]).reg == kRegSp) return {};
  for (const ZydisDecodedOperand& operand : operands) {
    if (!isStackSlot(operand)) continue;
    const uint64_t bytes = operand.size / 8u;
    return moved(kRegSp, (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 ? -bytes : bytes);
  }
  return {};
}

}  // namespace

Definition definitionOf(const ZydisDecodedInstruction& decoded, std::span<const ZydisDecodedOperand> operands,
                        uint64_t address) {
  if (operands.empty()) return {};
  // Zydis lists the register of cdqe, which the encoding does not name, too.
  const auto [reg, bits] = generalRegister(operands[0]);
  if (reg != kRegNone && bits >= 32)
    if (auto value = valueOf(decoded, operands, address)) return {reg, *value};
  return stackMove(decoded, operands);
}

Load loadOf(const ZydisDecodedInstruction& decoded, std::span<const ZydisDecodedOperand> operands) {
  if (operands.size() < 2 || operands[1].type != ZYDIS_OPERAND_TYPE_MEMORY) return {};
  const auto [reg, bits] = generalRegister(operands[0]);
  if (reg == kRegNone || bits < 32) return {};
  const Load load{reg, static_cast<uint8_t>(operands[1].size), false};
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
      return load;
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
      return bits == 64 ? Load{reg, load.bits, true} : Load{};
    default:
      return {};
  }
}

std::optional<Sum> storedBy(const ZydisDecodedInstruction& decoded,
                            std::span<const ZydisDecodedOperand> operands) {
  if (decoded.mnemonic != ZYDIS_MNEMONIC_MOV || operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY) return {};
  return plain(operands[1], static_cast<uint8_t>(operands[0].size));
}

}  // namespace cacheline::decode
