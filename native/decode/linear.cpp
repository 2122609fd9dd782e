// All arithmetic is modulo 2^64, as the processor's.
#include "decode/linear.h"

#include <algorithm>

namespace cacheline::decode {

LinearValues::LinearValues() {
  for (uint32_t reg = 0; reg < kRegCount; ++reg) registers_[reg].terms = {{reg, 1}};
}

void LinearValues::run(const Instruction& instruction) {
  const auto& [reg, sum] = instruction.definition;
  std::optional<Value> made;
  if (reg != kRegNone && sum.bits == 64 && sum.shift == 0) {
    made.emplace().constant = sum.constant;
    for (const Sum::Term& term : sum.terms) add(*made, term.part, term.factor);
  }
  forget(instruction.written);
  if (made) registers_[reg] = std::move(*made);
}

void LinearValues::forget(uint32_t registers) {
  for (uint8_t reg = 0; reg < kRegCount; ++reg)
    if (((registers >> reg) & 1) != 0) registers_[reg] = {{{next_++, 1}}, 0};
}

LinearValues::Value LinearValues::addressOf(const MemoryOperand& operand) const {
  Value address;
  address.constant = static_cast<uint64_t>(operand.displacement);
  add(address, operand.base, 1);
  add(address, operand.index, operand.scale);
  // An address of the code lies where the binary was loaded.
  if (operand.base == kRegNone && operand.index == kRegNone) add(address, kCodeBias, 1);
  return address;
}

void LinearValues::add(Value& value, uint8_t part, uint64_t factor) const {
  if (part == kRegNone) return;
  const auto addTerm = [&](uint32_t term, uint64_t by) {
    const auto at = std::ranges::lower_bound(value.terms, term, {}, &std::pair<uint32_t, uint64_t>::first);
    if (at == value.terms.end() || at->first != term) {
      if (by != 0) value.terms.insert(at, {term, by});
    } else if ((at->second += by) == 0) {
      value.terms.erase(at);
    }
  };
  if (part == kCodeBias) return addTerm(part, factor);
  for (const auto& [term, by] : registers_[part].terms) addTerm(term, by * factor);
  value.constant += registers_[part].constant * factor;
}

std::optional<int64_t> distance(const LinearValues::Value& from, const LinearValues::Value& to) {
  if (from.terms != to.terms) return {};
  return static_cast<int64_t>(to.constant - from.constant);
}

}  // namespace cacheline::decode
