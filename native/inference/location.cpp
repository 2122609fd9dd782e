// The stack machine of DWARF expressions.
#include "inference/location.h"

#include <dwarf.h>

#include <utility>

namespace cacheline::inference {
namespace {

constexpr size_t kMostExecuted = 1024;  // executed for one variable; compilers need a dozen
constexpr size_t kDeepestStack = 64;
constexpr int kDeepestReference = 4;  // frame base -> call frame address; implicit pointer -> variable

struct Machine {
  const LocationContext& context;
  size_t executed = 0;

  struct Stack {
    uint64_t slot[kDeepestStack];
    size_t depth = 0;
    bool push(uint64_t value) {
      if (depth == kDeepestStack) return false;
      slot[depth++] = value;
      return true;
    }
  };

  static const char* const kBroken;

  // Each answers null, or why the value is unknown.
  const char* run(const Expression& expression, int nesting, Places& places);
  const char* step(const Operation& operation, int nesting, Stack& stack);
  const char* registerValue(uint64_t number, uint64_t& value) const;
  const char* frameBase(int nesting, uint64_t& value);
  const char* callFrame(int nesting, uint64_t& value);
  const char* single(const Expression* expression, int nesting, const char* missing, Place& place);
  static const char* binary(uint8_t code, Stack& stack);
};

const char* const Machine::kBroken = "its location expression is malformed";

void add(Places& places, Place place) {
  if (places.count < Places::kMost) places.piece[places.count++] = place;
}

Place unknown(const char* reason) {
  Place place;
  place.reason = reason;
  return place;
}

const char* Machine::registerValue(uint64_t number, uint64_t& value) const {
  const uint8_t reg = perfRegister(number);
  if (reg == kRegNone) return "it is in a register that samples do not have";
  if (context.registers == nullptr || !context.registers->has(reg))
    return "the sample lacks the register it is in";
  value = context.registers->value[reg];
  return nullptr;
}

/// The one place that a helper expression (frame base, call frame address, another variable's) stands for.
const char* Machine::single(const Expression* expression, int nesting, const char* missing, Place& place) {
  if (expression == nullptr || expression->operations.empty()) return missing;
  if (nesting >= kDeepestReference) return "its location expression is nested too deeply";
  Places places;
  if (const char* reason = run(*expression, nesting + 1, places)) return reason;
  if (places.count != 1) return missing;
  if (places.piece[0].kind == Place::Kind::unknown) return places.piece[0].reason;
  place = places.piece[0];
  return nullptr;
}

const char* Machine::frameBase(int nesting, uint64_t& value) {
  Place place;
  const char* reason = single(context.frameBase, nesting, "the function has no frame base", place);
  value = place.number;
  return reason;
}
const char* Machine::callFrame(int nesting, uint64_t& value) {
  Place place;
  const char* reason = single(context.cfa, nesting, "there is no call frame information here", place);
  value = place.number;
  return reason;
}

const char* Machine::binary(uint8_t code, Stack& stack) {
  if (stack.depth < 2) return kBroken;
  const uint64_t b = stack.slot[--stack.depth];
  uint64_t& a = stack.slot[stack.depth - 1];
  const auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
  switch (code) {
    case DW_OP_and:
      a &= b;
      break;
    case DW_OP_or:
      a |= b;
      break;
    case DW_OP_xor:
      a ^= b;
      break;
    case DW_OP_plus:
      a += b;
      break;
    case DW_OP_minus:
      a -= b;
      break;
    case DW_OP_mul:
      a *= b;
      break;
    case DW_OP_div:
      if (b == 0) return "its location expression divides by zero";
      a = sb == -1 ? 0 - a : static_cast<uint64_t>(sa / sb);
      break;
    case DW_OP_mod:
      if (b == 0) return "its location expression divides by zero";
      a %= b;
      break;
    case DW_OP_shl:
      a = b < 64 ? a << b : 0;
      break;
    case DW_OP_shr:
      a = b < 64 ? a >> b : 0;
      break;
    case DW_OP_shra:
      a = static_cast<uint64_t>(sa >> (b < 64 ? b : 63));
      break;
    case DW_OP_eq:
      a = sa == sb;
      break;
    case DW_OP_ne:
      a = sa != sb;
      break;
    case DW_OP_lt:
      a = sa < sb;
      break;
    case DW_OP_le:
      a = sa <= sb;
      break;
    case DW_OP_gt:
      a = sa > sb;
      break;
    case DW_OP_ge:
      a = sa >= sb;
      break;
    default:
      return kBroken;
  }
  return nullptr;
}

/// Everything that only works on the stack. Null: done.
const char* Machine::step(const Operation& operation, int nesting, Stack& stack) {
  const uint8_t code = operation.code;
  uint64_t value = 0;
  const auto push = [&](uint64_t number) -> const char* {
    return stack.push(number) ? nullptr : "its location expression needs too deep a stack";
  };
  if (code >= DW_OP_lit0 && code <= DW_OP_lit31) return push(code - DW_OP_lit0);
  if (code >= DW_OP_breg0 && code <= DW_OP_breg31) {
    if (const char* reason = registerValue(code - DW_OP_breg0, value)) return reason;
    return push(value + operation.first);
  }
  switch (code) {
    case DW_OP_addr:
      return push(operation.first + context.loadBias);
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
      return push(operation.first);
    case DW_OP_bregx:
      if (const char* reason = registerValue(operation.first, value)) return reason;
      return push(value + operation.second);
    case DW_OP_fbreg:
      if (const char* reason = frameBase(nesting, value)) return reason;
      return push(value + operation.first);
    case DW_OP_call_frame_cfa:
      if (const char* reason = callFrame(nesting, value)) return reason;
      return push(value);
    case DW_OP_dup:
      return stack.depth < 1 ? kBroken : push(stack.slot[stack.depth - 1]);
    case DW_OP_drop:
      if (stack.depth < 1) return kBroken;
      stack.depth--;
      return nullptr;
    case DW_OP_over:
      return stack.depth < 2 ? kBroken : push(stack.slot[stack.depth - 2]);
    case DW_OP_pick:
      return operation.first >= stack.depth ? kBroken : push(stack.slot[stack.depth - 1 - operation.first]);
    case DW_OP_swap:
      if (stack.depth < 2) return kBroken;
      std::swap(stack.slot[stack.depth - 1], stack.slot[stack.depth - 2]);
      return nullptr;
    case DW_OP_rot: {
      if (stack.depth < 3) return kBroken;
      const uint64_t top = stack.slot[stack.depth - 1];
      stack.slot[stack.depth - 1] = stack.slot[stack.depth - 2];
      stack.slot[stack.depth - 2] = stack.slot[stack.depth - 3];
      stack.slot[stack.depth - 3] = top;
      return nullptr;
    }
    case DW_OP_abs:
    case DW_OP_neg:
    case DW_OP_not:
    case DW_OP_plus_uconst: {
      if (stack.depth < 1) return kBroken;
      uint64_t& top = stack.slot[stack.depth - 1];
      if (code == DW_OP_plus_uconst) top += operation.first;
      if (code == DW_OP_not) top = ~top;
      if (code == DW_OP_neg || (code == DW_OP_abs && static_cast<int64_t>(top) < 0)) top = 0 - top;
      return nullptr;
    }
    case DW_OP_nop:
      return nullptr;
    case DW_OP_deref:
    case DW_OP_deref_size:
    case DW_OP_deref_type:
    case DW_OP_GNU_deref_type:
    case DW_OP_xderef:
    case DW_OP_xderef_size:
      return "it is reached through memory, which samples do not have";
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
      return "it is known by its value at the function's entry only, and the caller's registers are gone";
    case DW_OP_form_tls_address:
    case DW_OP_GNU_push_tls_address:
      return "it is thread-local";
    default:
      return binary(code, stack);
  }
}

const char* Machine::run(const Expression& expression, int nesting, Places& places) {
  const auto& operations = expression.operations;
  if (operations.empty()) {
    add(places, unknown("the compiler optimised it out here"));
    return nullptr;
  }
  Stack stack;
  Place current;
  bool settled = false;  // `current` says where the bytes are; else they are in memory at the stack's top
  const char* broken = nullptr;
  uint64_t offset = 0;
  const auto finish = [&](uint64_t size) {
    Place place = current;
    if (broken != nullptr) {
      place = unknown(broken);
    } else if (!settled) {
      place = unknown("the compiler optimised it out here");
      if (stack.depth > 0) {
        place.kind = Place::Kind::memory;
        place.number = stack.slot[stack.depth - 1];
      }
    }
    place.offset = offset;
    place.size = size;
    add(places, place);
    offset += size;
    settled = false;
    broken = nullptr;
    stack.depth = 0;
  };
  const auto settle = [&](Place::Kind kind, uint64_t number) {
    current = {};
    current.kind = kind;
    current.number = number;
    settled = true;
  };
  for (size_t at = 0; at < operations.size(); at++) {
    if (++executed > kMostExecuted) return "its location expression does not end";
    const Operation& operation = operations[at];
    const uint8_t code = operation.code;
    if (code == DW_OP_piece) {
      finish(operation.first);
      continue;
    }
    if (broken != nullptr) continue;  // the next piece may be known again
    uint64_t value = 0;
    if ((code >= DW_OP_reg0 && code <= DW_OP_reg31) || code == DW_OP_regx) {
      broken = registerValue(code == DW_OP_regx ? operation.first : code - DW_OP_reg0, value);
      settle(Place::Kind::value, value);
    } else if (code == DW_OP_stack_value) {
      if (stack.depth == 0)
        broken = kBroken;
      else
        settle(Place::Kind::value, stack.slot[stack.depth - 1]);
    } else if (code == DW_OP_implicit_value) {
      if (operation.second > sizeof value)
        broken = "it is a constant larger than a register";
      else
        settle(Place::Kind::value, operation.first);
    } else if (code == DW_OP_implicit_pointer || code == DW_OP_GNU_implicit_pointer) {
      const Expression* target =
          operation.inner < expression.inner.size() ? &expression.inner[operation.inner] : nullptr;
      Place place;
      broken = single(target, nesting, "it points to a variable that is not in memory", place);
      if (broken == nullptr && place.kind != Place::Kind::memory)
        broken = "it points to a variable that is not in memory";
      settle(Place::Kind::value, place.number + operation.first);
    } else if (code == DW_OP_skip || code == DW_OP_bra) {
      if (code == DW_OP_bra) {
        if (stack.depth == 0) {
          broken = kBroken;
          continue;
        }
        if (stack.slot[--stack.depth] == 0) continue;
      }
      if (operation.first > operations.size()) return kBroken;
      at = static_cast<size_t>(operation.first) - 1;  // wraps for 0, and the loop adds one
    } else {
      broken = step(operation, nesting, stack);
    }
  }
  if (offset == 0) finish(0);
  return nullptr;
}

}  // namespace

uint8_t perfRegister(uint64_t dwarfRegister) {
  static constexpr uint8_t kPerf[17] = {kRegAx,  kRegDx,  kRegCx,  kRegBx,  kRegSi,  kRegDi,
                                        kRegBp,  kRegSp,  kRegR8,  kRegR9,  kRegR10, kRegR11,
                                        kRegR12, kRegR13, kRegR14, kRegR15, kRegIp};
  return dwarfRegister < sizeof kPerf ? kPerf[dwarfRegister] : uint8_t{kRegNone};
}

void evaluate(const Expression& expression, const LocationContext& context, Places& places) {
  places.count = 0;
  Machine machine{context};
  if (const char* reason = machine.run(expression, 0, places)) {
    places.count = 0;
    add(places, unknown(reason));
  }
}

std::optional<Linear> linearForm(const Expression& expression, const Expression* frameBase,
                                 const Expression* cfa) {
  const auto& operations = expression.operations;
  if (operations.empty()) return std::nullopt;
  Linear linear;
  const Operation& first = operations[0];
  const auto from = [&](const Expression* helper) {
    // One level only: a frame base may be the call frame address, which is a register and an offset.
    const auto base =
        helper != nullptr ? linearForm(*helper, nullptr, helper == frameBase ? cfa : nullptr) : std::nullopt;
    if (base) linear = *base;
    linear.inMemory = true;
    return base.has_value();
  };
  if (first.code >= DW_OP_reg0 && first.code <= DW_OP_reg31) {
    if (operations.size() != 1) return std::nullopt;
    linear.inMemory = false;
    linear.reg = perfRegister(first.code - DW_OP_reg0);
    if (linear.reg == kRegNone) return std::nullopt;
    return linear;
  }
  if (first.code >= DW_OP_breg0 && first.code <= DW_OP_breg31) {
    linear.reg = perfRegister(first.code - DW_OP_breg0);
    if (linear.reg == kRegNone) return std::nullopt;
    linear.offset = static_cast<int64_t>(first.first);
  } else if (first.code == DW_OP_fbreg) {
    if (!from(frameBase)) return std::nullopt;
    linear.offset = static_cast<int64_t>(static_cast<uint64_t>(linear.offset) + first.first);
  } else if (first.code == DW_OP_call_frame_cfa) {
    if (!from(cfa)) return std::nullopt;
  } else if (first.code == DW_OP_addr) {
    linear.isAddress = true;
    linear.offset = static_cast<int64_t>(first.first);
  } else {
    return std::nullopt;
  }
  for (size_t i = 1; i < operations.size(); i++) {
    if (operations[i].code == DW_OP_plus_uconst) {
      linear.offset = static_cast<int64_t>(static_cast<uint64_t>(linear.offset) + operations[i].first);
    } else if (operations[i].code == DW_OP_stack_value && i + 1 == operations.size()) {
      linear.inMemory = false;
    } else {
      return std::nullopt;
    }
  }
  return linear;
}

}  // namespace cacheline::inference
