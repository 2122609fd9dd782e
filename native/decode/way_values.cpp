// All arithmetic is modulo 2^64, as the processor's.
#include "decode/way_values.h"

#include <algorithm>

namespace cacheline::decode {

namespace {

bool has(uint32_t registers, uint8_t reg) {
  return reg < kRegCount && ((registers >> reg) & 1) != 0;
}

}  // namespace

uint32_t ValueNames::of(uint64_t code, uint8_t reg, bool isBefore) {
  const auto [known, isNew] = made_.try_emplace({code, reg, isBefore}, next_);
  if (isNew) ++next_;
  return known->second;
}

uint32_t ValueNames::ofLowBits(const Value& value, uint8_t bits, bool isSigned, uint8_t shift) {
  const bool isName = value.terms.size() == 1 && value.terms[0].second == 1 && value.constant == 0;
  const uint32_t inner = isName ? value.terms[0].first : 0;
  if (isName && !isSigned && shift == 0) {
    const auto low = lows_.find(inner);
    if (low != lows_.end() && low->second.bits <= bits) return inner;
  }
  const auto [known, isNew] = known_.try_emplace({value.terms, value.constant, bits, isSigned, shift}, next_);
  if (!isNew) return known->second;
  if (isName && !isSigned && shift == 0) {
    const auto low = lows_.find(inner);
    lows_[next_] = {low == lows_.end() ? inner : low->second.name, bits};
  }
  return next_++;
}

ValueNames::Value ValueNames::low(const Value& value, uint8_t bits) {
  if (bits >= 64) return value;
  if (value.terms.empty()) return {{}, value.constant & (~uint64_t{0} >> (64 - bits))};
  return {{{ofLowBits(value, bits, false, 0), 1}}, 0};
}

bool ValueNames::isPartOf(const Value& value, uint32_t name) const {
  if (value.terms.size() != 1 || value.terms[0].second != 1 || value.constant != 0) return false;
  if (value.terms[0].first == name) return true;
  const auto low = lows_.find(value.terms[0].first);
  return low != lows_.end() && low->second.name == name;
}

WayValues::WayValues(const FrameUse& frame, uint32_t keptByCalls, ValueNames& names)
    : frame_(&frame), kept_(keptByCalls), names_(&names) {
  for (uint32_t reg = 0; reg < kRegCount; ++reg) registers_[reg] = named(reg);
}

void WayValues::addTo(Value& sum, uint8_t part, uint64_t factor, bool& known) const {
  if (part == kRegNone || factor == 0) return;
  if (part == kCodeBias)
    sum.add(part, factor);
  else if (registers_[part])
    sum.add(*registers_[part], factor);
  else
    known = false;
}

std::optional<WayValues::Value> WayValues::addressOf(const MemoryOperand& operand) const {
  Value address;
  address.constant = static_cast<uint64_t>(operand.displacement);
  bool known = true;
  addTo(address, operand.base, 1, known);
  addTo(address, operand.index, operand.scale, known);
  if (operand.base == kRegNone && operand.index == kRegNone) addTo(address, kCodeBias, 1, known);
  if (!known) return {};
  return address;
}

std::optional<WayValues::Value> WayValues::valueOf(const Sum& sum) const {
  Value value;
  value.constant = sum.constant;
  bool known = true;
  for (const Sum::Term& term : sum.terms) addTo(value, term.part, term.factor, known);
  if (!known) return {};
  return value;
}

WayValues::Value WayValues::extended(const Value& value, uint8_t bits, bool isSigned, uint8_t shift) const {
  if (bits == 64 && shift == 0) return value;
  if (!value.terms.empty()) return named(names_->ofLowBits(value, bits, isSigned, shift));
  Sum sum;
  sum.bits = bits;
  sum.isSigned = isSigned;
  sum.shift = shift;
  return {{}, sum.extend(value.constant)};
}

bool WayValues::isInFrame(const Value& address) const {
  if (address.terms.size() != 1 || address.terms[0].second != 1) return false;
  const uint32_t from = address.terms[0].first;
  return from == kRegSp || (from == kRegBp && frame_->byBp);
}

const WayValues::Slot* WayValues::slotAt(const Value& place, uint32_t width, uint64_t address) {
  if (!isInFrame(place)) return nullptr;
  const auto known = std::ranges::find_if(
      slots_, [&](const Slot& each) { return each.width == width && each.place == place; });
  if (known != slots_.end()) return &*known;
  slots_.push_back({place, width, named(names_->of(address, kRegNone, isBefore_))});
  return &slots_.back();
}

std::optional<WayValues::Value> WayValues::contentAt(const MemoryOperand& operand) const {
  const auto place = addressOf(operand);
  if (!place) return {};
  const auto known = std::ranges::find_if(
      slots_, [&](const Slot& each) { return each.width == operand.width && each.place == *place; });
  if (known == slots_.end()) return {};
  return known->content;
}

void WayValues::write(const Instruction& instruction, const std::optional<Value>& place) {
  const bool isFrame = place && isInFrame(*place);
  // What push and call write is below all that the function keeps in its frame.
  const bool isPushed = has(instruction.written, kRegSp);
  std::erase_if(slots_, [&](const Slot& slot) {
    if (!isFrame) return frame_->escapes;
    const auto apart = distance(slot.place, *place);
    if (!apart) return !isPushed;
    return *apart < int64_t{slot.width} && -*apart < int64_t{std::max(instruction.operand.width, 1u)};
  });
  if (!isFrame || !instruction.stored || instruction.operand.width == 0) return;
  if (auto content = valueOf(*instruction.stored)) {
    bool derived = false;
    for (const Sum::Term& term : instruction.stored->terms) derived |= has(derived_, term.part);
    slots_.push_back({*place, instruction.operand.width, std::move(*content), derived});
  }
}

void WayValues::call(uint64_t address) {
  for (uint8_t reg = 0; reg < kRegCount; ++reg)
    if (!has(kept_, reg)) registers_[reg] = named(names_->of(address, reg, isBefore_));
  derived_ &= kept_;
  flagsDerived_ = false;
  if (frame_->escapes) slots_.clear();
}

void WayValues::run(const Instruction& instruction, const Flow& flow, uint64_t address) {
  if (flow.calls) return call(address);
  std::optional<Value> place, made;
  const bool isPlaced = instruction.accesses && instruction.failure == Failure::none;
  if (isPlaced) place = addressOf(instruction.operand);
  bool derived = (instruction.read & derived_) != 0 || (instruction.readsFlags && flagsDerived_);
  if (place && instruction.operand.kind == AccessKind::read && !instruction.operand.stringOperation) {
    if (const Slot* slot = slotAt(*place, instruction.operand.width, address)) {
      derived |= slot->derived;
      const Load& load = instruction.load;
      if (load.reg != kRegNone) made = extended(slot->content, load.bits, load.isSigned, 0);
    }
  }
  const auto& [reg, sum] = instruction.definition;
  uint8_t target = instruction.load.reg;
  bool isConstant = false;
  if (reg != kRegNone && !made) {
    target = reg;
    if (const auto value = valueOf(sum)) {
      made = extended(*value, sum.bits, sum.isSigned, sum.shift);
      isConstant = value->terms.empty();
    }
  }
  if (instruction.accesses && (!isPlaced || instruction.operand.kind != AccessKind::read))
    write(instruction, place);
  for (uint8_t each = 0; each < kRegCount; ++each) {
    if (!has(instruction.written, each)) continue;
    registers_[each] = named(names_->of(address, each, isBefore_));
    derived_ &= ~(1u << each);
    if (derived && !(each == target && isConstant) && each != kRegSp) derived_ |= 1u << each;
  }
  if (instruction.setsFlags) flagsDerived_ = derived;
  if (made) registers_[target] = std::move(*made);
}

void WayValues::runOthers(uint64_t address) {
  const uint32_t written = frame_->written | (frame_->calls ? ~kept_ : 0);
  const auto isOfFrame = [](const auto& term) { return term.first == kRegSp || term.first == kRegBp; };
  for (uint8_t reg = 0; reg < kRegCount; ++reg)
    if (has(written, reg) || std::ranges::any_of(registers_[reg]->terms, isOfFrame))
      registers_[reg] = named(names_->of(address, reg, isBefore_));
  slots_.clear();
  registers_[kRegSp] = named(kRegSp);
  if (frame_->byBp) registers_[kRegBp] = named(kRegBp);
}

void WayValues::beginWays(const Instruction& access, uint64_t address) {
  isBefore_ = false;
  derived_ = 0;
  loadAgain(access, address);
}

void WayValues::loadAgain(const Instruction& last, uint64_t code) {
  derived_ |= last.written & ~(1u << kRegSp);
  if (last.setsFlags) flagsDerived_ = true;
  const Load& load = last.load;
  if (load.reg == kRegNone) return;
  const Value value = named(names_->of(code, kLoaded, false));
  registers_[load.reg] = extended(value, load.bits, load.isSigned, 0);
}

bool WayValues::holdsPartOf(const Value& address) const {
  const auto isPart = [&](const Value& value) {
    return std::ranges::any_of(value.terms, [&](const auto& term) {
      return std::ranges::any_of(address.terms, [&](const auto& part) { return part.first == term.first; });
    });
  };
  return address.terms == std::vector<std::pair<uint32_t, uint64_t>>{{kCodeBias, 1}} ||
         std::ranges::any_of(registers_, [&](const auto& value) { return value && isPart(*value); }) ||
         std::ranges::any_of(slots_, [&](const Slot& slot) { return isPart(slot.content); });
}

bool WayValues::meet(const WayValues& other) {
  bool changed = false;
  for (uint8_t reg = 0; reg < kRegCount; ++reg) {
    std::optional<Value>& value = registers_[reg];
    if (!value || value == other.registers_[reg]) continue;
    value.reset();
    changed = true;
  }
  const auto before = slots_.size();
  std::erase_if(slots_, [&](Slot& slot) {
    const auto found = std::ranges::find_if(other.slots_, [&](const Slot& each) {
      return each.width == slot.width && each.place == slot.place && each.content == slot.content;
    });
    if (found == other.slots_.end()) return true;
    changed |= found->derived && !slot.derived;
    slot.derived |= found->derived;
    return false;
  });
  changed |=
      slots_.size() != before || (other.derived_ & ~derived_) != 0 || (other.flagsDerived_ && !flagsDerived_);
  derived_ |= other.derived_;
  flagsDerived_ |= other.flagsDerived_;
  return changed;
}

}  // namespace cacheline::decode
