// All arithmetic is modulo 2^64, as the processor's.
#include "decode/linear.h"

#include <algorithm>

namespace cacheline::decode {

void LinearValues::Value::add(uint32_t value, uint64_t factor) {
  const auto at = std::ranges::lower_bound(terms, value, {}, &std::pair<uint32_t, uint64_t>::first);
  if (at == terms.end() || at->first != value) {
    if (factor != 0) terms.insert(at, {value, factor});
  } else if ((at->second += factor) == 0) {
    terms.erase(at);
  }
}

void LinearValues::Value::add(const Value& other, uint64_t factor) {
  for (const auto& [value, by] : other.terms) add(value, by * factor);
  constant += other.constant * factor;
}

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
  if (part == kCodeBias)
    value.add(part, factor);
  else
    value.add(registers_[part], factor);
}

std::optional<int64_t> distance(const LinearValues::Value& from, const LinearValues::Value& to) {
  if (from.terms != to.terms) return {};
  return static_cast<int64_t>(to.constant - from.constant);
}

}  // namespace cacheline::decode
