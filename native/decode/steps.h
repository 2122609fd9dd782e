// What each instruction of a function does to the registers and stack slots that may hold addresses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/registers.h"

namespace cacheline::decode {

/// The memory operand of a step: base + index * scale + displacement, from the base of fs on or from 0.
struct StepMemory {
  uint8_t base = kRegNone, index = kRegNone;  ///< X86Register
  uint8_t scale = 1;
  bool thread = false;       ///< from the base of fs on
  int64_t displacement = 0;  ///< of RIP-relative operands the whole ELF address
};

struct Step {
  enum class Kind : uint8_t {
    other,        ///< nothing that is followed; `written` registers lose what they held
    copy,         ///< target = source
    load,         ///< target = 8 bytes at memory
    store,        ///< `width` bytes at memory = source (kRegNone: something not followed)
    address,      ///< target = address of memory
    constant,     ///< target = memory.displacement
    add,          ///< target = target + memory.displacement
    addRegister,  ///< target = target + source
    subRegister,  ///< target = target - source
    addLoad,      ///< target = target + 8 bytes at memory
    scale,        ///< target = source * factor
    scaleLoad,    ///< target = 8 bytes at memory * factor
    choose,       ///< target = target or source
    chooseLoad,   ///< target = target or 8 bytes at memory
    swap,         ///< target and source change places
    call,         ///< target = what the function at `destination`, at memory or elsewhere returns
    jumpThrough,  ///< a jump to where source or memory says: a jump table, or a call in tail position
  };
  enum class Flow : uint8_t {
    next,         ///< goes on behind it
    jump,         ///< to `destination`
    conditional,  ///< either
    ends          ///< returns, traps, or jumps somewhere unknown
  };
  uint64_t address = 0;
  uint64_t destination = 0;  ///< ELF address, of a direct jump or call; 0: unknown
  StepMemory memory;
  int64_t factor = 0;    ///< of a scale
  uint32_t written = 0;  ///< bit n: X86Register n is overwritten
  Kind kind = Kind::other;
  Flow flow = Flow::next;
  uint8_t target = kRegNone, source = kRegNone;
  uint8_t width = 0;   ///< of a store, bytes
  uint8_t length = 0;  ///< bytes of code
};

/// Decodes x86-64 code that lies at `address`. Bytes that are no instruction are skipped one by one, as steps
/// that end.
std::vector<Step> decodeSteps(std::span<const uint8_t> code, uint64_t address);

}  // namespace cacheline::decode
