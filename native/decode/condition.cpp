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
  const auto isOne = [&](const Side& side) {
    return side.reg != kRegNone && ((registers >> side.reg) & 1) != 0;
  };
  return isOne(left) || isOne(right);
}

std::optional<uint64_t> Comparison::flags(const Registers& registers) const {
  const auto isKnown = [&](const Side& side) { return side.reg == kRegNone || registers.has(side.reg); };
  if (readsMemory() || !isKnown(left) || !isKnown(right)) return {};
  const uint64_t mask = ~uint64_t{0} >> (64 - bits), top = uint64_t{1} << (bits - 1);
  const auto valueOf = [&](const Side& side) {
    return (side.reg == kRegNone ? side.constant : registers.value[side.reg]) & mask;
  };
  const uint64_t a = valueOf(left), b = valueOf(right);
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
  comparison.bits = static_cast<uint8_t>(operands[0].size);
  const auto take = [](const ZydisDecodedOperand& operand, Comparison::Side& side) {
    side.memory = operand.type == ZYDIS_OPERAND_TYPE_MEMORY;
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) side.constant = operand.imm.value.u;
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return true;
    side.reg = enclosingRegister(operand.reg.value);
    return isPlainPart(operand.reg.value);
  };
  if (!take(operands[0], comparison.left) || !take(operands[1], comparison.right)) return {};
  return comparison;
}

}  // namespace cacheline::decode
