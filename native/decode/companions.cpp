// The basic block around an access.
#include "decode/companions.h"

#include <algorithm>

#include "decode/linear.h"
#include "decode/paths.h"

namespace cacheline::decode {

namespace {

constexpr int kMostAround = 32;     ///< instructions, before and behind
constexpr int64_t kFarthest = 256;  ///< bytes; the largest line size in use (s390x)

bool isPlain(const Instruction& instruction) {
  return instruction.accesses && instruction.failure == Failure::none && !instruction.repeats;
}

class Companions {
 public:
  /// What was run before the block; its accesses are no companions.
  void runBefore(std::span<const Instruction> line, uint32_t forgotten) {
    for (const Instruction& instruction : line) values_.run(instruction);
    values_.forget(forgotten);
  }

  void run(const Instruction& instruction, bool isAccess = false) {
    if (isPlain(instruction)) {
      if (isAccess) access_ = accesses_.size();
      accesses_.emplace_back(values_.addressOf(instruction.operand), instruction.operand);
    }
    values_.run(instruction);
  }

  void goOn(std::span<const uint8_t> ahead, uint64_t address) {
    Instruction instruction;
    Flow flow;
    for (int n = 0; n < kMostAround && decodeInstruction(ahead, address, instruction); ++n) {
      run(instruction);
      if (!decodeFlow(ahead, flow) || flow.endsBlock) return;
      ahead = ahead.subspan(instruction.length);
      address += instruction.length;
    }
  }

  std::vector<Companion> found() const {
    std::vector<Companion> list;
    for (size_t at = 0; at < accesses_.size(); ++at) {
      const auto& [address, operand] = accesses_[at];
      const auto delta = distance(accesses_[access_].first, address);
      if (at == access_ || !delta || *delta <= -kFarthest || *delta >= kFarthest) continue;
      list.push_back(
          {*delta, operand.width, operand.kind != AccessKind::write, operand.kind != AccessKind::read});
    }
    return list;
  }

 private:
  LinearValues values_;
  std::vector<std::pair<LinearValues::Value, MemoryOperand>> accesses_;
  size_t access_ = 0;
};

/// Decodes from one address to another. False where no instruction ends there.
bool decodeUntil(std::span<const uint8_t> code, uint64_t from, uint64_t to, uint64_t codeStart,
                 std::vector<Instruction>& line) {
  for (uint64_t at = from; at < to; at += line.back().length)
    if (!decodeInstruction(code.subspan(at - codeStart), at, line.emplace_back())) return false;
  return true;
}

/// Runs what led to the block at an offset: where that is a loop, what led to the loop.
void runToBlock(const Code& code, size_t block, Companions& companions) {
  const Ways ways = waysTo(code, block);
  if (!ways.complete) return;
  const Piece* before = nullptr;
  uint32_t forgotten = 0;
  for (const Piece& piece : ways.pieces) {
    if (piece.code == &code && piece.from == block) {
      std::vector<Instruction> line;
      if (!decodeUntil(code.bytes, code.start + block, code.start + piece.end, code.start, line)) return;
      for (const Instruction& each : line) forgotten |= each.written;
    } else if (before != nullptr) {
      return;
    } else {
      before = &piece;
    }
  }
  if (before == nullptr) return;
  if (const auto path = pathThrough({*before})) companions.runBefore(path->line, forgotten);
}

}  // namespace

std::vector<Companion> companionsOf(const Code& code, uint64_t blockStart, uint64_t access) {
  constexpr uint64_t kMostBefore = kMostAround * kLongestInstruction;
  if (access < code.start || access - code.start >= code.bytes.size() || blockStart < code.start ||
      blockStart > access)
    return {};
  // A longer block is one that begins later: where an instruction begins there is not known.
  const bool whole = access - blockStart <= kMostBefore;
  std::vector<Instruction> line;
  if (whole && !decodeUntil(code.bytes, blockStart, access, code.start, line)) return {};
  const auto bytes = code.bytes.subspan(access - code.start);
  if (!decodeInstruction(bytes, access, line.emplace_back()) || !isPlain(line.back())) return {};
  Companions companions;
  if (whole) runToBlock(code, blockStart - code.start, companions);
  for (const Instruction& each : line) companions.run(each, &each == &line.back());
  Flow flow;
  if (decodeFlow(bytes, flow) && !flow.endsBlock)
    companions.goOn(bytes.subspan(flow.length), access + flow.length);
  return companions.found();
}

std::vector<Companion> companionsOf(std::span<const uint8_t> code, uint64_t codeStart, uint64_t blockStart,
                                    uint64_t access) {
  if (blockStart < codeStart || blockStart - codeStart > code.size()) return {};
  const auto part = code.subspan(blockStart - codeStart);
  return companionsOf({CodeSweep(part, 0, CodeSweep::Extent::part), part, blockStart}, blockStart, access);
}

std::vector<Companion> companionsAlong(std::span<const Instruction> line, size_t access,
                                       std::span<const uint8_t> ahead, uint64_t address) {
  if (!isPlain(line[access])) return {};
  Companions companions;
  for (size_t at = 0; at < line.size(); ++at) companions.run(line[at], at == access);
  companions.goOn(ahead, address);
  return companions.found();
}

}  // namespace cacheline::decode
