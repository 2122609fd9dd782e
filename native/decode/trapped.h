// From the instruction pointer of a debug register's trap to the access that was trapped.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/registers.h"
#include "decode/access.h"

namespace cacheline::decode {

/// Which instruction may have made the access; depends on the code only, so it is cached per IP. Data
/// breakpoints trap behind the access (Intel SDM vol. 3, "Data Breakpoint"): the instruction pointer is the
/// next instruction's, or that of a string operation with rep between two of its iterations.
struct TrapPlan {
  struct Candidate {
    uint64_t codeAddress = 0;
    MemoryOperand operand;      ///< where `addressKnown`: in terms of the registers behind it
    bool addressKnown = false;  ///< else the instruction overwrote its own address, or none is that simple
  };
  std::optional<Candidate> before;   ///< ends at the IP and accesses memory
  std::optional<Candidate> running;  ///< the string operation with rep at the IP
  bool joined = false;               ///< a direct branch leads to the IP: others may have come from there
};

/// `code` as for planAccess(). Empty where nothing fits. Never throws; any bytes are valid input.
TrapPlan planTrap(std::span<const uint8_t> code, uint64_t codeStart, uint64_t ip);

struct TrappedAccess {
  uint64_t codeAddress = 0;
  /// Empty: it is this instruction, or the one that led here, but whether it read or wrote is not known.
  std::optional<AccessKind> kind;
  std::optional<uint64_t> address;  ///< of its first byte
  uint32_t width = 0;               ///< bytes; 0: unknown
  bool locked = false;
};

/// The access that touched one of the `length` bytes at `watched`. Empty: none of the plan's can have been
/// it. `bias`: of the process's addresses over the plan's, which count in operands without registers.
std::optional<TrappedAccess> trappedAccess(const TrapPlan& plan, const Registers& registers, uint64_t watched,
                                           uint32_t length, uint64_t bias = 0);

}  // namespace cacheline::decode
