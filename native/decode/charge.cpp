// Operands are carried over as far as that goes; the rest is a sum.
#include "decode/charge.h"

#include <algorithm>
#include <bit>

#include "decode/frame.h"
#include "decode/instruction.h"
#include "decode/slice.h"

namespace cacheline::decode {
namespace {

/// An address that is a base, an index and a displacement after all, as those of a plan's operand.
bool isOperand(const Sum& sum, MemoryOperand& operand) {
  const auto& [first, second] = sum.terms;
  if (sum.bits != 64 || sum.shift != 0) return false;
  const bool fixed = first.part == kCodeBias && first.factor == 1 && second.part == kRegNone;
  const auto isIndex = [](const Sum::Term& term) {
    return term.part < kRegCount && term.factor <= 8 && std::has_single_bit(term.factor);
  };
  const bool swap = first.factor != 1;
  const Sum::Term& base = swap ? second : first;
  const Sum::Term& index = swap ? first : second;
  const bool indexed = (base.part == kRegNone || (base.part < kRegCount && base.factor == 1)) &&
                       (index.part == kRegNone || isIndex(index)) &&
                       (base.part != kRegNone || index.part != kRegNone);
  if (!fixed && !indexed) return false;
  operand.base = base.part == kCodeBias ? uint8_t{kRegNone} : base.part;
  operand.index = index.part;
  operand.scale = index.part == kRegNone ? uint8_t{1} : static_cast<uint8_t>(index.factor);
  operand.displacement = static_cast<int64_t>(sum.constant);
  return true;
}

}  // namespace

AccessPlan chargeTo(std::span<const Instruction> line, size_t access, uint64_t codeAddress) {
  const Instruction& charged = line[access];
  AccessPlan plan;
  plan.failure = charged.failure;
  plan.codeAddress = codeAddress;
  plan.skid = static_cast<uint8_t>(std::min<size_t>(line.size() - access, kMostSkid));
  plan.operand = charged.operand;
  if (plan.failure != Failure::none) return plan;
  const auto isLost = [&](const Instruction& each) { return !carryOver(each, plan.operand); };
  if (std::none_of(line.begin() + static_cast<ptrdiff_t>(access), line.end(), isLost)) return plan;
  plan.operand = charged.operand;
  plan.sums = recover(line, access, addressOf(charged.operand));
  if (plan.sums.empty())
    plan.failure = Failure::clobbered;
  else if (plan.sums.size() == 1 && isOperand(plan.sums[0], plan.operand))
    plan.sums.clear();
  return plan;
}

AccessPlan chargeTo(const Code& code, uint64_t address, std::span<const Instruction> line, size_t access,
                    uint64_t codeAddress) {
  AccessPlan plan = chargeTo(line, access, codeAddress);
  Frame frame;
  if (plan.failure != Failure::clobbered || !frameOf(code, frame) || address < frame.end) return plan;
  frame.line.insert(frame.line.end(), line.begin(), line.end());
  return chargeTo(frame.line, frame.line.size() - line.size() + access, codeAddress);
}

}  // namespace cacheline::decode
