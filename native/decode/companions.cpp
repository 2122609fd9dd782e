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

class Companions {
 public:
  Companions(std::span<const Instruction> line, size_t access) : place_(line[access].operand) {
    std::vector<MemoryOperand> earlier;
    for (const Instruction& instruction : line.first(access)) {
      if (isPlain(instruction)) earlier.push_back(instruction.operand);
      std::erase_if(earlier, [&](MemoryOperand& operand) { return !carryOver(instruction, operand); });
    }
    for (const MemoryOperand& operand : earlier) add(operand);
    known_ = carryOver(line[access], place_);
    for (const Instruction& instruction : line.subspan(access + 1)) run(instruction);
  }

  void goOn(std::span<const uint8_t> ahead, uint64_t address) {
    Instruction instruction;
    Flow flow;
    for (int n = 0; known_ && n < kMostAround && decodeInstruction(ahead, address, instruction); ++n) {
      run(instruction);
      if (!decodeFlow(ahead, flow) || flow.endsBlock) return;
      ahead = ahead.subspan(instruction.length);
      address += instruction.length;
    }
  }

  std::vector<Companion> take() { return std::move(found_); }

 private:
  void run(const Instruction& instruction) {
    if (!known_) return;
    if (isPlain(instruction)) add(instruction.operand);
    known_ = carryOver(instruction, place_);
  }

  void add(const MemoryOperand& operand) {
    if (!haveSameRegisters(operand, place_)) return;
    const auto delta = static_cast<int64_t>(static_cast<uint64_t>(operand.displacement) -
                                            static_cast<uint64_t>(place_.displacement));
    if (delta <= -kFarthest || delta >= kFarthest) return;
    found_.push_back(
        {delta, operand.width, operand.kind != AccessKind::write, operand.kind != AccessKind::read});
  }

  MemoryOperand place_;  ///< of the access, by what registers hold where the thread is
  bool known_ = true;
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
  std::vector<Instruction> line;
  uint64_t at = blockStart;
  for (; at <= access; at += line.back().length)
    if (at - codeStart >= code.size() ||
        !decodeInstruction(code.subspan(at - codeStart), at, line.emplace_back()))
      return {};
  Flow flow;
  const bool ends = !decodeFlow(code.subspan(access - codeStart), flow) || flow.endsBlock;
  return companionsAlong(line, line.size() - 1,
                         ends ? std::span<const uint8_t>{} : code.subspan(at - codeStart), at);
}

std::vector<Companion> companionsAlong(std::span<const Instruction> line, size_t access,
                                       std::span<const uint8_t> ahead, uint64_t address) {
  if (!isPlain(line[access])) return {};
  Companions companions(line, access);
  companions.goOn(ahead, address);
  return companions.take();
}

}  // namespace cacheline::decode
