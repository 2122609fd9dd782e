// The basic block around an access.
#include "decode/companions.h"

#include "decode/instruction.h"

namespace cacheline::decode {

namespace {

constexpr int kMostAround = 32;     ///< instructions, before and behind
constexpr int64_t kFarthest = 256;  ///< bytes; the largest line size in use (s390x)

bool isPlain(const Instruction& instruction) {
  return instruction.accesses && instruction.failure == Failure::none && !instruction.repeats;
}

bool haveSameRegisters(const MemoryOperand& a, const MemoryOperand& b) {
  return a.base == b.base && a.index == b.index && (a.index == kRegNone || a.scale == b.scale);
}

class Block {
 public:
  Block(std::span<const uint8_t> code, uint64_t codeStart) : code_(code), codeStart_(codeStart) {}

  std::vector<Companion> around(uint64_t blockStart, uint64_t access) {
    std::vector<MemoryOperand> earlier;
    Instruction instruction;
    for (uint64_t at = blockStart; at < access; at += instruction.length) {
      if (!decode(at, instruction)) return {};
      if (isPlain(instruction)) earlier.push_back(instruction.operand);
      std::erase_if(earlier, [&](MemoryOperand& operand) { return !carryOver(instruction, operand); });
    }
    if (!decode(access, instruction) || !isPlain(instruction)) return {};
    const MemoryOperand own = instruction.operand;
    for (const MemoryOperand& operand : earlier) add(operand, own);
    MemoryOperand place = own;
    uint64_t at = access;
    for (int n = 0; n < kMostAround; ++n) {
      Flow flow;
      if (!decodeFlow(code_.subspan(at - codeStart_), flow) || flow.endsBlock ||
          !carryOver(instruction, place))
        break;
      at += instruction.length;
      if (!decode(at, instruction)) break;
      if (isPlain(instruction)) add(instruction.operand, place);
    }
    return std::move(found_);
  }

 private:
  bool decode(uint64_t at, Instruction& instruction) const {
    return at - codeStart_ < code_.size() &&
           decodeInstruction(code_.subspan(at - codeStart_), at, instruction);
  }

  void add(const MemoryOperand& operand, const MemoryOperand& own) {
    if (!haveSameRegisters(operand, own)) return;
    const auto delta = static_cast<int64_t>(static_cast<uint64_t>(operand.displacement) -
                                            static_cast<uint64_t>(own.displacement));
    if (delta <= -kFarthest || delta >= kFarthest) return;
    found_.push_back(
        {delta, operand.width, operand.kind != AccessKind::write, operand.kind != AccessKind::read});
  }

  std::span<const uint8_t> code_;
  uint64_t codeStart_;
  std::vector<Companion> found_;
};

}  // namespace

std::vector<Companion> companionsOf(std::span<const uint8_t> code, uint64_t codeStart, uint64_t blockStart,
                                    uint64_t access) {
  constexpr uint64_t kMostBefore = kMostAround * kLongestInstruction;
  if (access < codeStart || access - codeStart >= code.size() || blockStart < codeStart ||
      blockStart > access)
    return {};
  // A longer block is one that begins later: where an instruction begins there is not known.
  if (access - blockStart > kMostBefore) blockStart = access;
  return Block(code, codeStart).around(blockStart, access);
}

}  // namespace cacheline::decode
