// Values are (register, instruction that wrote it). Each is one that still holds, or is computed from others.
#include "decode/slice.h"

#include <algorithm>

namespace cacheline::decode {
namespace {

/// A value known in terms of the registers behind the line: part + plus, in its low bits that were asked for.
struct Known {
  uint8_t part = kRegNone;  ///< as Sum::Term::part; kRegNone: a constant
  uint64_t plus = 0;
};

/// Whether it is a place in the frame of a function, which other threads hardly ever write.
bool isSlot(const MemoryOperand& operand) {
  return (operand.base == kRegBp || operand.base == kRegSp) && operand.index == kRegNone && operand.width > 0;
}

/// Whether two places may have bytes in common; `slot` is one.
bool mayOverlap(const MemoryOperand& slot, const MemoryOperand& other) {
  if (!isSlot(other) || other.base != slot.base) return true;
  const uint64_t distance =
      static_cast<uint64_t>(other.displacement) - static_cast<uint64_t>(slot.displacement);
  return distance < slot.width || 0 - distance < other.width;
}

/// `slot` by the registers before `instruction` in place of those behind it. False: that is not known.
bool carryBack(const Instruction& instruction, MemoryOperand& slot) {
  if (((instruction.written >> slot.base) & 1) == 0) return true;
  const Definition& moved = instruction.definition;
  if (!moved.isMove() || moved.reg != slot.base) return false;
  slot.base = moved.value.terms[0].part;
  slot.displacement = static_cast<int64_t>(static_cast<uint64_t>(slot.displacement) + moved.value.constant);
  return isSlot(slot);
}

/// Whether an instruction may write a slot; by the registers before it.
bool mayWrite(const Instruction& instruction, const MemoryOperand& slot) {
  if (instruction.operand.kind == AccessKind::read) {  // push [m] and call [m] also write the stack
    const Definition& moved = instruction.definition;
    const bool up = moved.isMove() && static_cast<int64_t>(moved.value.constant) > 0;
    return ((instruction.written >> kRegSp) & 1) != 0 && !up;
  }
  return instruction.failure != Failure::none || instruction.operand.stringOperation ||
         mayOverlap(slot, instruction.operand);
}

class Slice {
 public:
  explicit Slice(std::span<const Instruction> line) : line_(line) {}

  /// The low `bits` of a part as it is before instruction `at`.
  std::optional<Known> before(uint8_t part, size_t at, uint8_t bits) {
    if (part == kRegNone || part == kCodeBias) return Known{part, 0};
    size_t from = at;
    while (from > 0 && !writes(from - 1, part)) --from;
    size_t until = at;
    while (until < line_.size() && !writes(until, part)) ++until;
    if (until == line_.size()) return Known{part, 0};
    const Value value{part, from, bits};
    if (++searched_ > kMostSearched || std::find(open_.begin(), open_.end(), value) != open_.end()) return {};
    open_.push_back(value);
    const size_t mark = sums.size();
    std::optional<Known> known;
    const auto attempt = [&](auto&& way) {
      if (known) return;
      known = way();
      if (!known) sums.resize(mark);
    };
    for (size_t use = from; use <= until; ++use) {
      attempt([&] { return fromEquality(part, use, bits); });
      attempt([&] { return fromUse(part, use, bits); });
    }
    if (from > 0) {
      attempt([&] { return fromDefinition(line_[from - 1].definition, part, from - 1, bits); });
      attempt([&] { return fromSlot(part, from - 1, bits); });
    }
    open_.pop_back();
    return known;
  }

  /// The low `bits` of a sum before instruction `at`.
  std::optional<Known> evaluate(const Sum& sum, size_t at, uint8_t bits) {
    const auto needed = sum.shift == 0 ? std::min(bits, sum.bits) : sum.bits;
    const auto first = before(sum.terms[0].part, at, needed);
    if (!first) return {};
    const auto second = before(sum.terms[1].part, at, needed);
    if (!second) return {};
    return combine(sum, *first, *second, bits);
  }

  std::vector<Sum> sums;

 private:
  struct Value {
    uint8_t reg = kRegNone;
    size_t from = 0;
    uint8_t bits = 64;
    bool operator==(const Value&) const = default;
  };

  bool writes(size_t at, uint8_t reg) const { return ((line_[at].written >> reg) & 1) != 0; }

  std::optional<Known> fromDefinition(const Definition& definition, uint8_t reg, size_t at, uint8_t bits) {
    if (definition.reg != reg) return {};
    return evaluate(definition.value, at, bits);
  }

  /// What instruction `at` loads into a register from the stack: what was stored there, or loaded before.
  std::optional<Known> fromSlot(uint8_t reg, size_t at, uint8_t bits) {
    const Load load = line_[at].load;
    if (load.reg != reg || line_[at].failure != Failure::none || !isSlot(line_[at].operand)) return {};
    MemoryOperand slot = line_[at].operand;
    for (size_t i = at; i-- > 0;) {
      const Instruction& each = line_[i];
      if (each.others != nullptr && std::ranges::any_of(*each.others, [&](const MemoryOperand& other) {
            return mayOverlap(slot, other);
          }))
        return {};
      if (!carryBack(each, slot)) return {};
      if (!each.accesses) continue;
      const bool same = each.failure == Failure::none && isSlot(each.operand) &&
                        each.operand.base == slot.base && each.operand.displacement == slot.displacement;
      if (same && each.stored && each.stored->bits >= load.bits) {
        Sum value = *each.stored;
        value.bits = load.bits;
        value.isSigned = load.isSigned;
        return evaluate(value, i, bits);
      }
      if (same && each.load.reg != kRegNone && each.load.bits == load.bits &&
          each.load.isSigned == load.isSigned) {
        Sum value;
        value.add(each.load.reg, 1);
        return evaluate(value, i + 1, bits);
      }
      if (mayWrite(each, slot)) return {};
    }
    return {};
  }

  /// A register that is the same as another one, or a constant.
  std::optional<Known> fromEquality(uint8_t reg, size_t at, uint8_t bits) {
    const Equality& equality = line_[at].equality;
    if (equality.left == kRegNone || equality.bits < bits) return {};
    if (reg == equality.right) return before(equality.left, at, bits);
    if (reg != equality.left) return {};
    if (equality.right == kRegNone) return Known{kRegNone, equality.constant};
    return before(equality.right, at, bits);
  }

  /// A register that instruction `at` reads, out of what it made of it.
  std::optional<Known> fromUse(uint8_t reg, size_t at, uint8_t bits) {
    const auto& [made, sum] = line_[at].definition;
    if (made == kRegNone || sum.bits < bits || sum.shift != 0) return {};
    for (const bool second : {false, true}) {
      const auto& [part, factor] = sum.terms[second ? 1 : 0];
      const auto& other = sum.terms[second ? 0 : 1];
      if (part != reg || (factor != 1 && factor != kMinusOne)) continue;
      const auto result = before(made, at + 1, bits);
      if (!result) continue;
      const auto rest = before(other.part, at, bits);
      if (!rest) continue;
      Sum old;  // a factor of 1 or -1 is its own inverse
      old.terms[0].factor = factor;
      old.terms[1].factor = 0 - factor * other.factor;
      old.constant = 0 - factor * sum.constant;
      return combine(old, *result, *rest, bits);
    }
    return {};
  }

  /// The factors and the constant of `sum` over parts that are known.
  std::optional<Known> combine(const Sum& sum, const Known& first, const Known& second, uint8_t bits) {
    Sum result;
    result.add(first.part, sum.terms[0].factor);
    result.add(second.part, sum.terms[1].factor);
    result.constant = sum.constant + first.plus * sum.terms[0].factor + second.plus * sum.terms[1].factor;
    const bool exact = sum.shift == 0 && sum.bits >= bits;  // nothing above the low bits is asked for
    if (!exact) {
      result.bits = sum.bits;
      result.isSigned = sum.isSigned;
      result.shift = sum.shift;
    }
    const auto& [only, other] = result.terms;
    if (only.part == kRegNone) return Known{kRegNone, result.extend(result.constant)};
    if (exact && only.factor == 1 && other.part == kRegNone) return Known{only.part, result.constant};
    if (sums.size() == kMostSums) return {};
    sums.push_back(result);
    return Known{static_cast<uint8_t>(kFirstStep + sums.size() - 1), 0};
  }

  static constexpr uint64_t kMinusOne = ~uint64_t{0};
  static constexpr int kMostSearched = 200;
  std::span<const Instruction> line_;
  std::vector<Value> open_;
  int searched_ = 0;
};

}  // namespace

std::vector<Sum> recover(std::span<const Instruction> line, size_t at, const Sum& value) {
  Slice slice(line);
  const auto known = slice.evaluate(value, at, 64);
  if (!known) return {};
  // The sum that made the value is the last one, unless it needs none.
  if (slice.sums.empty() || known->part != kFirstStep + slice.sums.size() - 1 || known->plus != 0) {
    if (slice.sums.size() == kMostSums) return {};
    Sum last;
    last.add(known->part, 1);
    last.constant = known->plus;
    slice.sums.push_back(last);
  }
  return std::move(slice.sums);
}

Sum addressOf(const MemoryOperand& operand) {
  Sum address;
  address.add(operand.base, 1);
  address.add(operand.index, operand.scale);
  address.constant = static_cast<uint64_t>(operand.displacement);
  return address;
}

}  // namespace cacheline::decode
