// Stores on the ways onward from a load, and those that are surely made next.
#include "decode/later_writes.h"

#include "decode/ways_on.h"

namespace cacheline::decode {

LaterWrites laterWrites(const Code& code, uint64_t access, uint32_t keptByCalls) {
  LaterWrites found;
  withWays(code, access, keptByCalls, Asked::all, [&](const WaysOn& ways) { found = ways.found(); });
  return found;
}

namespace {

/// An operand at an address that is a register, or two, and a constant.
std::optional<MemoryOperand> operandAt(const Value& address, const MemoryOperand& of) {
  if (address.terms.empty() || address.terms.size() > 2) return {};
  MemoryOperand operand = of;
  operand.base = operand.index = kRegNone;
  operand.displacement = static_cast<int64_t>(address.constant);
  for (const auto& [part, factor] : address.terms) {
    if (part == kCodeBias && address.terms.size() == 1 && factor == 1) return operand;
    if (part >= kRegCount || part == kRegSp || part == kRegBp) return {};
    if (factor == 1 && operand.base == kRegNone) {
      operand.base = static_cast<uint8_t>(part);
    } else if (operand.index == kRegNone && (factor == 1 || factor == 2 || factor == 4 || factor == 8)) {
      operand.index = static_cast<uint8_t>(part);
      operand.scale = static_cast<uint8_t>(factor);
    } else {
      return {};
    }
  }
  return operand;
}

}  // namespace

std::vector<MemoryOperand> storesAhead(const Code& code, uint64_t ip) {
  constexpr int kMostAhead = 24;  // instructions
  std::vector<MemoryOperand> stores;
  LinearValues values;
  Instruction instruction;
  Flow flow;
  for (int n = 0; n < kMostAhead && ip - code.start < code.bytes.size(); ++n) {
    const auto bytes = code.bytes.subspan(ip - code.start);
    if (!decodeInstruction(bytes, ip, instruction) || !decodeFlow(bytes, flow)) break;
    if (flow.endsBlock) {
      if (flow.condition != kAlways || !flow.hasTarget) break;
      ip += static_cast<uint64_t>(flow.target);
      continue;
    }
    const MemoryOperand& operand = instruction.operand;
    if (instruction.accesses && instruction.failure == Failure::none && operand.kind == AccessKind::write &&
        !operand.locked && !operand.stringOperation)
      if (const auto store = operandAt(values.addressOf(operand), operand)) stores.push_back(*store);
    values.run(instruction);
    ip += instruction.length;
  }
  return stores;
}

}  // namespace cacheline::decode
