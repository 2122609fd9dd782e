// Zydis' instructions reduced to moves of addresses.
#include "decode/steps.h"

#include "decode/zydis.h"

namespace cacheline::decode {
namespace {

using StepKind = Step::Kind;

/// What a function may overwrite (System V ABI, AMD64, 3.2.1).
constexpr uint32_t kCallerSaved = 1u << kRegAx | 1u << kRegCx | 1u << kRegDx | 1u << kRegSi | 1u << kRegDi |
                                  1u << kRegR8 | 1u << kRegR9 | 1u << kRegR10 | 1u << kRegR11;

uint8_t registerOf(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER ? wholeRegister(operand.reg.value) : uint8_t{kRegNone};
}

/// False where the operand is not an address that 64-bit registers make.
bool takeMemory(const ZydisDecodedOperand& operand, uint64_t next, StepMemory& memory) {
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) return false;
  const auto& mem = operand.mem;
  if (mem.segment == ZYDIS_REGISTER_GS) return false;
  memory.thread = mem.segment == ZYDIS_REGISTER_FS;
  memory.displacement = mem.disp.value;
  if (mem.base == ZYDIS_REGISTER_RIP) {
    memory.displacement = static_cast<int64_t>(next + static_cast<uint64_t>(mem.disp.value));
  } else if (mem.base != ZYDIS_REGISTER_NONE) {
    memory.base = wholeRegister(mem.base);
    if (memory.base == kRegNone) return false;
  }
  if (mem.index != ZYDIS_REGISTER_NONE) {
    memory.index = wholeRegister(mem.index);
    memory.scale = mem.scale;
    if (memory.index == kRegNone) return false;
  }
  return true;
}

void takeMove(const ZydisDecodedOperand* operands, uint64_t next, Step& step) {
  const uint8_t to = registerOf(operands[0]), from = registerOf(operands[1]);
  if (to != kRegNone && from != kRegNone) {
    step.kind = StepKind::copy;
    step.target = to;
    step.source = from;
  } else if (to != kRegNone && takeMemory(operands[1], next, step.memory)) {
    step.kind = StepKind::load;
    step.target = to;
  } else if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY && takeMemory(operands[0], next, step.memory)) {
    step.kind = StepKind::store;
    step.source = operands[0].size == 64 ? from : uint8_t{kRegNone};
    step.width = static_cast<uint8_t>(operands[0].size / 8);
  } else if (operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    // A 32-bit immediate clears the upper half: addresses of programs that are not moved.
    step.target = enclosingRegister(operands[0].reg.value);
    if (step.target == kRegNone || operands[0].size < 32) return;
    step.kind = StepKind::constant;
    step.memory.displacement = operands[0].size == 32
                                   ? static_cast<int64_t>(operands[1].imm.value.u & 0xffffffff)
                                   : operands[1].imm.value.s;
  }
}

/// An instruction that writes memory in another way: what a stack slot held is lost.
void takeOtherWrite(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands,
                    uint64_t next, Step& step) {
  for (size_t i = 0; i < decoded.operand_count_visible; i++) {
    if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY ||
        (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0 ||
        !takeMemory(operands[i], next, step.memory))
      continue;
    step.kind = StepKind::store;
    step.width = static_cast<uint8_t>(operands[i].size / 8);
    return;
  }
}

void takeSum(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands, uint64_t next,
             Step& step) {
  const uint8_t to = registerOf(operands[0]);
  if (to == kRegNone) {
    takeOtherWrite(decoded, operands, next, step);
    return;
  }
  const bool minus = decoded.mnemonic == ZYDIS_MNEMONIC_SUB;
  if (operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    step.kind = StepKind::add;
    step.target = to;
    const auto by = static_cast<uint64_t>(operands[1].imm.value.s);
    step.memory.displacement = static_cast<int64_t>(minus ? 0 - by : by);
  } else if (!minus && takeMemory(operands[1], next, step.memory)) {
    step.kind = StepKind::addLoad;
    step.target = to;
  } else if (registerOf(operands[1]) != kRegNone) {
    step.kind = minus ? StepKind::subRegister : StepKind::addRegister;
    step.target = to;
    step.source = registerOf(operands[1]);
  }
}

void takeKind(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands, uint64_t next,
              Step& step) {
  const uint8_t to = registerOf(operands[0]);
  const auto scale = [&](uint8_t source, int64_t by) {
    step.kind = StepKind::scale;
    step.target = to;
    step.source = source;
    step.factor = by;
  };
  if (decoded.meta.category == ZYDIS_CATEGORY_CMOV) {
    step.target = to;
    step.source = registerOf(operands[1]);
    if (step.target != kRegNone && step.source != kRegNone) step.kind = StepKind::choose;
    if (step.target != kRegNone && takeMemory(operands[1], next, step.memory))
      step.kind = StepKind::chooseLoad;
    return;
  }
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
      takeMove(operands, next, step);
      break;
    case ZYDIS_MNEMONIC_LEA:
      step.target = to;
      if (to != kRegNone && takeMemory(operands[1], next, step.memory)) step.kind = StepKind::address;
      break;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
      takeSum(decoded, operands, next, step);
      break;
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
      if (to == kRegNone) {
        takeOtherWrite(decoded, operands, next, step);
        break;
      }
      step.kind = StepKind::add;
      step.target = to;
      step.memory.displacement = decoded.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
      break;
    case ZYDIS_MNEMONIC_SHL:
      if (to != kRegNone && operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        scale(to, static_cast<int64_t>(uint64_t{1} << (operands[1].imm.value.u & 63)));
      else
        takeOtherWrite(decoded, operands, next, step);
      break;
    case ZYDIS_MNEMONIC_IMUL:
      if (decoded.operand_count_visible != 3 || to == kRegNone) break;
      if (registerOf(operands[1]) == kRegNone && !takeMemory(operands[1], next, step.memory)) break;
      scale(registerOf(operands[1]), operands[2].imm.value.s);
      if (step.source == kRegNone) step.kind = StepKind::scaleLoad;
      break;
    case ZYDIS_MNEMONIC_XOR:
      // With itself: 0, of the 32-bit register too.
      if (operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].size >= 32 &&
          operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].reg.value == operands[1].reg.value) {
        step.target = enclosingRegister(operands[0].reg.value);
        if (step.target != kRegNone) step.kind = StepKind::constant;
      } else {
        takeOtherWrite(decoded, operands, next, step);
      }
      break;
    case ZYDIS_MNEMONIC_XCHG:
      if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY || operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
        takeOtherWrite(decoded, operands, next, step);
      } else if (to != kRegNone && registerOf(operands[1]) != kRegNone) {
        step.kind = StepKind::swap;
        step.target = to;
        step.source = registerOf(operands[1]);
      }
      break;
    case ZYDIS_MNEMONIC_CALL:
      step.kind = StepKind::call;
      step.target = kRegAx;
      step.written = kCallerSaved;
      takeMemory(operands[0], next, step.memory);
      break;
    case ZYDIS_MNEMONIC_JMP:
      if (decoded.raw.imm[0].is_relative != ZYAN_FALSE) break;
      step.kind = StepKind::jumpThrough;
      step.source = to;
      takeMemory(operands[0], next, step.memory);
      break;
    default:
      takeOtherWrite(decoded, operands, next, step);
  }
}

void takeFlow(const Flow& flow, Step& step) {
  if (flow.hasTarget) step.destination = step.address + static_cast<uint64_t>(flow.target);
  if (flow.calls) return;
  if (!flow.falls)
    step.flow = flow.hasTarget ? Step::Flow::jump : Step::Flow::ends;
  else if (flow.hasTarget)
    step.flow = Step::Flow::conditional;
}

void takeWritten(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands, Step& step) {
  for (size_t i = 0; i < decoded.operand_count; i++) {
    if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
        (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
      continue;
    const uint8_t reg = enclosingRegister(operands[i].reg.value);
    if (reg != kRegNone) step.written |= 1u << reg;
  }
  for (size_t i = 0; i < decoded.operand_count && decoded.meta.category == ZYDIS_CATEGORY_STRINGOP; i++)
    if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
      if (const uint8_t reg = enclosingRegister(operands[i].mem.base); reg != kRegNone)
        step.written |= 1u << reg;
}

}  // namespace

std::vector<Step> decodeSteps(std::span<const uint8_t> code, uint64_t address) {
  std::vector<Step> steps;
  steps.reserve(code.size() / 4);
  for (size_t at = 0; at < code.size();) {
    Step step;
    step.address = address + at;
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT]{};
    if (!decodeFully(code.subspan(at), decoded, operands)) {
      step.length = 1;
      step.flow = Step::Flow::ends;
    } else {
      const uint64_t next = step.address + decoded.length;
      step.length = decoded.length;
      takeWritten(decoded, operands, step);
      takeKind(decoded, operands, next, step);
      takeFlow(flowOf(decoded), step);
    }
    at += step.length;
    steps.push_back(step);
  }
  return steps;
}

}  // namespace cacheline::decode
