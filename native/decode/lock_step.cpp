// Changes of words, and which of them undo others.
#include "decode/lock_step.h"

#include "decode/ways_on.h"
#include "decode/zydis.h"

namespace cacheline::decode {

namespace {

using Kind = WordChange::Kind;

Kind kindOf(const ZydisDecodedInstruction& decoded) {
  const bool isLocked = (decoded.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0;
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
      return Kind::sets;
    case ZYDIS_MNEMONIC_XCHG:
      return Kind::swaps;
    case ZYDIS_MNEMONIC_CMPXCHG:
      return isLocked ? Kind::compares : Kind::none;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
    case ZYDIS_MNEMONIC_XADD:
      return isLocked ? Kind::adds : Kind::none;
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_BTR:
      return isLocked ? Kind::clears : Kind::none;
    case ZYDIS_MNEMONIC_BTS:
      return isLocked ? Kind::marks : Kind::none;
    default:
      return Kind::none;
  }
}

/// Of the operand that is not in memory.
std::optional<Value> valueOf(const ZydisDecodedInstruction& decoded,
                             std::span<const ZydisDecodedOperand> operands, uint8_t bits,
                             const WayValues& before) {
  if (decoded.mnemonic == ZYDIS_MNEMONIC_INC || decoded.mnemonic == ZYDIS_MNEMONIC_DEC) return Value{{}, 1};
  if (decoded.mnemonic == ZYDIS_MNEMONIC_CMPXCHG) return before.valueOf(kRegAx, bits);
  for (const ZydisDecodedOperand& operand : operands.first(std::min<size_t>(operands.size(), 2))) {
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return Value{{}, operand.imm.value.u};
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    const uint8_t reg = enclosingRegister(operand.reg.value);
    const bool isHigh = operand.reg.value >= ZYDIS_REGISTER_AH && operand.reg.value <= ZYDIS_REGISTER_BH;
    if (reg != kRegNone && !isHigh) return before.valueOf(reg, bits);
  }
  return {};
}

uint64_t low(uint64_t value, uint8_t bits) {
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

bool isConstant(const WordChange& change) {
  return change.value && change.value->terms.empty();
}

bool isConstant(const WordChange& change, uint64_t value) {
  return isConstant(change) && low(change.value->constant, change.bits) == low(value, change.bits);
}

bool isNegative(const WordChange& change) {
  if (change.kind != Kind::adds || !change.value) return false;
  if (isConstant(change)) return (change.value->constant >> (change.bits - 1) & 1) != 0;
  return std::ranges::all_of(change.value->terms, [](const auto& term) { return term.second >> 63 != 0; });
}

/// Whether the next instructions look for what is left of a word that was subtracted from: 0, or as xadd
/// tells it, the value that was subtracted.
bool asksForZero(std::span<const uint8_t> bytes, const WordChange& change) {
  Flow flow;
  for (int i = 0; i < 2 && decodeFlow(bytes, flow); ++i) {
    if (flow.condition == kEqual || flow.condition == (kEqual ^ 1)) return true;
    const auto compared = decodeComparison(bytes);
    if (!compared || compared->test || compared->right.reg != kRegNone ||
        !isConstant(change, -compared->right.constant))
      return false;
    bytes = bytes.subspan(flow.length);
  }
  return false;
}

}  // namespace

WordChange wordChange(std::span<const uint8_t> bytes, const WayValues& before) {
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand storage[ZYDIS_MAX_OPERAND_COUNT];
  WordChange change;
  if (!decodeFully(bytes, decoded, storage)) return change;
  const std::span<const ZydisDecodedOperand> operands(storage, decoded.operand_count);
  change.kind = kindOf(decoded);
  if (change.kind == Kind::none) return change;
  for (const ZydisDecodedOperand& operand : operands.first(std::min<size_t>(operands.size(), 2)))
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY)
      change.bits = static_cast<uint8_t>(std::clamp(int{operand.size}, 8, 64));
  change.value = valueOf(decoded, operands, change.bits, before);
  const bool isOff = decoded.mnemonic == ZYDIS_MNEMONIC_SUB || decoded.mnemonic == ZYDIS_MNEMONIC_DEC;
  if (isOff && change.value) {
    change.value->constant = -change.value->constant;
    for (auto& [part, factor] : change.value->terms) factor = -factor;
  }
  if (isNegative(change)) change.asksForZero = asksForZero(bytes.subspan(decoded.length), change);
  return change;
}

bool undoes(const WordChange& back, const WordChange& take) {
  const bool stores = back.kind == Kind::sets || back.kind == Kind::swaps;
  const bool subtracts = isNegative(back) && !back.asksForZero;
  switch (take.kind) {
    case Kind::compares:
      if (!stores) return subtracts || back.kind == Kind::clears;
      if (!back.value || !take.value || back.value->terms != take.value->terms) return false;
      return !isConstant(back) || isConstant(back, take.value->constant);
    case Kind::swaps:
      if (!stores || !isConstant(back) || isConstant(take, 0)) return false;
      return !isConstant(take) || !isConstant(back, take.value->constant);
    case Kind::adds:
      return subtracts && isConstant(take) && !isNegative(take) && isConstant(back, -take.value->constant);
    case Kind::marks:
      return subtracts || back.kind == Kind::clears || (stores && isConstant(back));
    default:
      return false;
  }
}

LockStep lockStep(const Code& code, uint64_t access, uint32_t keptByCalls) {
  LockStep step;
  std::optional<TurnLoad> turn;
  withWays(code, access, keptByCalls, Asked::back, [&](const WaysOn& ways) {
    step.change = ways.take();
    if (!ways.mayTake()) return;
    step.takes = ways.decides();
    if (step.takes) ways.addHeld(step);
    if (!step.isLock()) turn = ways.turn();
  });
  if (turn)
    withWays(code, turn->at, keptByCalls, Asked::turn, [&](const WaysOn& ways) { ways.addHeld(step); });
  if (turn && step.isLock()) {
    step.takes = true;
    step.turn = turn->distance;
  }
  if (step.change.value && !step.change.value->terms.empty()) step.change.value.reset();
  return step;
}

}  // namespace cacheline::decode
