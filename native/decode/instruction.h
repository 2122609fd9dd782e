// What one x86-64 instruction does to memory and to the address registers: a thin, typed view over Zydis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decode/access.h"
#include "decode/condition.h"
#include "decode/sum.h"

namespace cacheline::decode {

inline constexpr size_t kLongestInstruction = 15;  ///< bytes (Intel SDM, volume 2, 2.3.11)

/// Control flow of one instruction, cheap enough to decode whole functions.
struct Flow {
  uint8_t length = 0;                 ///< bytes
  bool endsBlock = false;             ///< branch, call, return, system call, interrupt or trap
  bool falls = true;                  ///< whether control may go on behind it: not of jmp, ret and traps
  bool calls = false;                 ///< call
  bool returns = false;               ///< ret
  bool pads = false;                  ///< nop, of any length
  bool hasTarget = false;             ///< a direct (relative) branch or call
  int64_t target = 0;                 ///< where hasTarget: relative to this instruction's first byte
  Condition condition = kOutOfFlags;  ///< of a jump; kAlways also where it has no direct target
};

/// Decodes the instruction at the start of `bytes`. False where the bytes are no instruction or end within
/// it.
bool decodeFlow(std::span<const uint8_t> bytes, Flow& flow);

/// The low `bits` of two registers are the same, or of one and a constant.
struct Equality {
  uint8_t left = kRegNone,
          right = kRegNone;  ///< X86Register; no `left`: none is known; no `right`: the constant
  uint64_t constant = 0;
  uint8_t bits = 0;
};

/// A register takes low bits of a memory operand, extended to 64.
struct Load {
  uint8_t reg = kRegNone;  ///< X86Register; kRegNone: none
  uint8_t bits = 0;
  bool isSigned = false;
};

struct Instruction {
  uint8_t length = 0;
  bool accesses = false;  ///< reads or writes memory
  /// Of its own operand: none; threadLocal; or noMemoryOperand where one base + index * scale + displacement
  /// over 64-bit registers cannot say the address (gather, scatter, tiles, xlat, bt with a register offset,
  /// 32-bit addressing).
  Failure failure = Failure::none;
  enum class Segment : uint8_t { none, fs, gs };
  Segment segment = Segment::none;  ///< not none: threadLocal, and `operand` counts from its base
  bool pauses = false;      ///< takes longer than cached loads on purpose: samples behind it are its own time
  bool repeats = false;     ///< a string operation with rep, repe or repne
  MemoryOperand operand;    ///< where accesses, and failure is none or there is a segment: by the registers
                            ///< before the instruction
  bool setsFlags = false;   ///< changes some of the flags that conditions ask for
  bool readsFlags = false;  ///< what it does depends on flags
  uint32_t read = 0;        ///< bit n: X86Register n is used, also for an address
  uint32_t written = 0;     ///< bit n: X86Register n is overwritten
  Definition definition;    ///< of one of those, where it is known
  Load load;                ///< of `operand`
  std::optional<Sum> stored;  ///< what `operand` is set to: the low Sum::bits of it
  /// Of a summary of code that was run in any order (frame.h): what of the stack that may write.
  const std::vector<MemoryOperand>* others = nullptr;
  Equality equality;  ///< what a jump shows where it went on as it did; decodeInstruction() does not know
};

/// Decodes the instruction at the start of `bytes`, which lies at `address`. False as for decodeFlow.
bool decodeInstruction(std::span<const uint8_t> bytes, uint64_t address, Instruction& instruction);

/// old(reg) in terms of the registers after `instruction`, for one part of an operand. False: lost.
inline bool follow(const Instruction& instruction, uint8_t& reg, uint8_t scale, int64_t& displacement) {
  if (reg == kRegNone) return true;
  if (((instruction.written >> reg) & 1) == 0) return true;
  const Definition& moved = instruction.definition;
  if (!moved.isMove() || moved.value.terms[0].part != reg) return false;
  displacement = static_cast<int64_t>(static_cast<uint64_t>(displacement) - moved.value.constant * scale);
  reg = moved.reg;
  return true;
}

/// Rewrites `operand` for the registers as they are after `instruction` ran. False: what it needs is lost.
inline bool carryOver(const Instruction& instruction, MemoryOperand& operand) {
  return follow(instruction, operand.base, 1, operand.displacement) &&
         follow(instruction, operand.index, operand.scale, operand.displacement);
}

}  // namespace cacheline::decode
