// The flags of the Intel SDM, vol. 1, 3.4.3, and what the sixteen conditions make of them.
#include "decode/condition.h"

#include <Zydis/Zydis.h>

#include <bit>

#include "decode/zydis.h"

namespace cacheline::decode {
namespace {

constexpr uint64_t kCarry = 1, kParity = 1 << 2, kZero = 1 << 6, kSign = 1 << 7, kOverflow = 1 << 11;

bool isPlainPart(ZydisRegister reg) {
  return enclosingRegister(reg) != kRegNone && (reg < ZYDIS_REGISTER_AH || reg > ZYDIS_REGISTER_BH);
}

}  // namespace

bool mayHold(Condition condition, uint64_t flags) {
  if (condition >= kAlways) return true;
  const auto is = [flags](uint64_t flag) { return (flags & flag) != 0; };
  const bool less = is(kSign) != is(kOverflow);
  const bool holds[] = {is(kOverflow), is(kCarry),  is(kZero), is(kCarry) || is(kZero),
                        is(kSign),     is(kParity), less,      less || is(kZero)};
  return holds[condition / 2] != ((condition & 1) != 0);  // the odd ones are the opposites
}

bool Comparison::uses(uint32_t registers) const {
  return ((registers >> left) & 1) != 0 || (right != kRegNone && ((registers >> right) & 1) != 0);
}

std::optional<uint64_t> Comparison::flags(const Registers& registers) const {
  if (!registers.has(left) || (right != kRegNone && !registers.has(right))) return {};
  const uint64_t mask = ~uint64_t{0} >> (64 - bits), top = uint64_t{1} << (bits - 1);
  const uint64_t a = registers.value[left] & mask;
  const uint64_t b = (right == kRegNone ? static_cast<uint64_t>(constant) : registers.value[right]) & mask;
  const uint64_t result = (test ? a & b : a - b) & mask;
  uint64_t flags = 0;
  if (result == 0) flags |= kZero;
  if ((result & top) != 0) flags |= kSign;
  if (std::popcount(result & 0xff) % 2 == 0) flags |= kParity;
  if (!test && a < b) flags |= kCarry;
  if (!test && ((a ^ b) & (a ^ result) & top) != 0) flags |= kOverflow;
  return flags;
}

std::optional<Comparison> decodeComparison(std::span<const uint8_t> bytes) {
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!decodeFully(bytes, decoded, operands)) return {};
  Comparison comparison;
  comparison.test = decoded.mnemonic == ZYDIS_MNEMONIC_TEST;
  if (!comparison.test && decoded.mnemonic != ZYDIS_MNEMONIC_CMP) return {};
  const ZydisDecodedOperand &left = operands[0], &right = operands[1];
  if (left.type != ZYDIS_OPERAND_TYPE_REGISTER || !isPlainPart(left.reg.value)) return {};
  comparison.left = enclosingRegister(left.reg.value);
  comparison.bits = static_cast<uint8_t>(left.size);
  if (right.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    comparison.constant = right.imm.value.s;
    return comparison;
  }
  if (right.type != ZYDIS_OPERAND_TYPE_REGISTER || !isPlainPart(right.reg.value)) return {};
  comparison.right = enclosingRegister(right.reg.value);
  return comparison;
}

std::optional<Compared> decodeCompared(std::span<const uint8_t> bytes) {
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!decodeFully(bytes, decoded, operands)) return {};
  Compared compared;
  compared.test = decoded.mnemonic == ZYDIS_MNEMONIC_TEST;
  if (!compared.test && decoded.mnemonic != ZYDIS_MNEMONIC_CMP) return {};
  compared.bits = static_cast<uint8_t>(operands[0].size);
  const auto take = [](const ZydisDecodedOperand& operand, Compared::Side& side) {
    side.memory = operand.type == ZYDIS_OPERAND_TYPE_MEMORY;
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) side.constant = operand.imm.value.u;
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      if (!isPlainPart(operand.reg.value)) return false;
      side.reg = enclosingRegister(operand.reg.value);
    }
    return true;
  };
  if (!take(operands[0], compared.left) || !take(operands[1], compared.right)) return {};
  return compared;
}

}  // namespace cacheline::decode
