// All code of a function, once: what it stores in its frame, and whether an address of that leaves it.
#include "decode/frame.h"

#include <algorithm>

namespace cacheline::decode {
namespace {

/// Calls leave rbx, rbp, rsp and r12 to r15 as they are (System V ABI, "Registers").
constexpr uint32_t kKept = 1u << kRegBx | 1u << kRegBp | 1u << kRegSp | 1u << kRegR12 | 1u << kRegR13 |
                           1u << kRegR14 | 1u << kRegR15;
constexpr uint32_t kOfCalls = ((1u << kRegCount) - 1) & ~kKept;

bool uses(const Sum& sum, uint8_t reg) {
  return std::ranges::any_of(sum.terms, [&](const Sum::Term& term) { return term.part == reg; });
}

bool startsFrame(const Instruction& instruction) {
  const Definition& made = instruction.definition;
  return made.reg == kRegBp && made.isMove() && made.value.terms[0].part == kRegSp;
}

/// Whether an instruction makes an address in the frame that is no stack pointer and no frame's start.
bool leaks(const Instruction& instruction) {
  if (instruction.stored && (uses(*instruction.stored, kRegBp) || uses(*instruction.stored, kRegSp)))
    return true;
  const Definition& made = instruction.definition;
  if (made.reg == kRegNone || made.reg == kRegSp || startsFrame(instruction)) return false;
  return uses(made.value, kRegBp) || uses(made.value, kRegSp);
}

}  // namespace

bool frameOf(const Code& code, Frame& frame) {
  const size_t size = code.bytes.size();
  if (!code.sweep.closed() || !code.parts.empty() || size > kMostFrameCode || code.sweep.isTarget(0))
    return false;
  Instruction instruction;
  Flow flow;
  bool hasFrame = false;
  size_t at = 0;
  for (; at < size && (at == 0 || !code.sweep.isTarget(at)); at += instruction.length) {
    if (!decodeInstruction(code.bytes.subspan(at), code.start + at, instruction) ||
        !decodeFlow(code.bytes.subspan(at), flow))
      return false;
    if (flow.endsBlock) break;
    if (hasFrame && ((instruction.written >> kRegBp) & 1) != 0) return false;
    hasFrame |= startsFrame(instruction);
    if (leaks(instruction)) return false;
    frame.line.push_back(instruction);
  }
  if (!hasFrame) return false;
  frame.end = code.start + at;
  Instruction rest;
  for (; at < size; ++at) {
    if (!code.sweep.startsAt(at)) continue;
    if (!decodeInstruction(code.bytes.subspan(at), code.start + at, instruction) ||
        !decodeFlow(code.bytes.subspan(at), flow))
      return false;
    if (flow.calls) rest.written |= kOfCalls;
    if (((instruction.written >> kRegBp) & 1) != 0) {  // leaves the function, or is no frame
      if (!decodeFlow(code.bytes.subspan(at + instruction.length), flow) || !flow.returns) return false;
      continue;
    }
    rest.written |= instruction.written;
    if (leaks(instruction)) return false;
    const MemoryOperand& operand = instruction.operand;
    if (!instruction.accesses || operand.kind == AccessKind::read || instruction.failure != Failure::none)
      continue;
    if (operand.index == kRegBp || operand.index == kRegSp) return false;
    // What a stack pointer leads to may be any part of the frame; push and call write below it.
    if (operand.base == kRegSp && ((instruction.written >> kRegSp) & 1) == 0) return false;
    if (operand.base == kRegBp) frame.stored.push_back(operand);
  }
  rest.others = &frame.stored;
  frame.line.push_back(std::move(rest));
  return true;
}

namespace {

/// Adds what a piece of the function does. False where rbp holds something else than the frame's start.
bool addUse(const Code& code, bool isMain, FrameUse& use) {
  Instruction instruction;
  Flow flow, next;
  bool isStart = isMain, keepsBp = true;
  for (size_t at = 0; at < code.bytes.size(); ++at) {
    if (!code.sweep.startsAt(at)) continue;
    if (!decodeInstruction(code.bytes.subspan(at), code.start + at, instruction) ||
        !decodeFlow(code.bytes.subspan(at), flow))
      continue;
    isStart = isStart && !flow.endsBlock && !code.sweep.isTarget(at);
    if (isStart) {
      use.start.push_back(instruction);
      use.startSize = at + instruction.length;
    } else {
      use.written |= instruction.written;
      use.calls |= flow.calls;
    }
    use.byBp |= startsFrame(instruction);
    use.escapes |= leaks(instruction);
    if (((instruction.written >> kRegBp) & 1) == 0 || startsFrame(instruction)) continue;
    const size_t behind = at + instruction.length;
    keepsBp &= behind < code.bytes.size() && decodeFlow(code.bytes.subspan(behind), next) &&
               (next.returns || next.condition == kAlways);
  }
  return keepsBp;
}

}  // namespace

FrameUse frameUse(const Code& code) {
  size_t size = code.bytes.size();
  for (const Code& part : code.parts) size += part.bytes.size();
  if (size > kMostFrameCode) return {};
  FrameUse use{.byBp = false, .escapes = false, .written = 0, .calls = false};
  bool keepsBp = addUse(code, true, use);
  for (const Code& part : code.parts) keepsBp &= addUse(part, false, use);
  use.byBp &= keepsBp;
  return use;
}

}  // namespace cacheline::decode
