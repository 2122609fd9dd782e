// The basic block behind a load.
#include "decode/write_back.h"

#include "decode/carry.h"
#include "decode/instruction.h"

namespace cacheline::decode {

namespace {

constexpr int kMostBehind = 32;  ///< instructions

bool isSamePlace(const MemoryOperand& a, const MemoryOperand& b) {
  return a.base == b.base && a.index == b.index && (a.index == kRegNone || a.scale == b.scale) &&
         a.displacement == b.displacement;
}

}  // namespace

bool isWrittenBack(std::span<const uint8_t> code, uint64_t address) {
  Instruction instruction;
  if (!decodeInstruction(code, address, instruction) || !instruction.accesses ||
      instruction.failure != Failure::none || instruction.operand.kind != AccessKind::read)
    return false;
  MemoryOperand place = instruction.operand;
  size_t at = 0;
  for (int n = 0; n < kMostBehind; ++n) {
    Flow flow;
    if (!decodeFlow(code.subspan(at), flow) || flow.endsBlock || !carryOver(instruction, place)) return false;
    at += instruction.length;
    if (at >= code.size() || !decodeInstruction(code.subspan(at), address + at, instruction)) return false;
    if (instruction.accesses && instruction.failure == Failure::none &&
        instruction.operand.kind != AccessKind::read && isSamePlace(instruction.operand, place))
      return true;
  }
  return false;
}

}  // namespace cacheline::decode
