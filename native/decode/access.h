// From a sampled instruction pointer to the memory access that took the time, and its effective address.
#pragma once

#include <cstdint>
#include <span>

#include "base/registers.h"

namespace cacheline::decode {

enum class AccessKind : uint8_t { read, write, readWrite };

/// Why a sample could not be charged to an access. The names are those of `samples.unattributed` in the
/// report.
enum class Failure : uint8_t { none, noInstruction, noMemoryOperand, clobbered, threadLocal };

/// One memory operand. The effective address is base + index * scale + displacement, from a register snapshot
/// taken at the sampled instruction (known register updates since the access are already folded into
/// `displacement`).
struct MemoryOperand {
  int64_t displacement =
      0;  ///< bytes; the absolute address where base and index are kRegNone (RIP-relative included)
  uint32_t width = 0;        ///< bytes touched; 0 where the instruction does not say (xsave, ...)
  uint8_t base = kRegNone;   ///< X86Register or kRegNone
  uint8_t index = kRegNone;  ///< X86Register or kRegNone
  uint8_t scale = 1;         ///< 1, 2, 4, 8
  AccessKind kind = AccessKind::read;
  bool locked = false;           ///< lock prefix, or xchg with memory
  bool stringOperation = false;  ///< movs, stos, cmps, scas, lods, with or without rep
};

/// The answer for one sampled IP; depends on the code only, so it is cached per IP.
struct AccessPlan {
  Failure failure = Failure::noInstruction;
  uint64_t codeAddress = 0;  ///< address of the accessing instruction, same numbering as `ip`
  uint8_t skid = 0;          ///< instructions between the access and the sampled IP; 0: the IP's own operand
  MemoryOperand operand;
};

/// Finds the access of a sample at `ip`. `code` are the bytes of the function from its symbol's start, which
/// lies at address `codeStart`, through its end; sampled IPs outside give Failure::noInstruction. Rule: the
/// nearest earlier memory-accessing instruction of the same basic block, unless an instruction since (itself
/// included) overwrote its base or index beyond recovery (`clobbered`); only where the block has none before
/// the IP, the IP's own operand. fs:/gs: operands give `threadLocal`. Never throws; any bytes are valid
/// input.
AccessPlan planAccess(std::span<const uint8_t> code, uint64_t codeStart, uint64_t ip);

/// False where a register it needs is not in the snapshot.
bool effectiveAddress(const MemoryOperand& operand, const Registers& registers, uint64_t& address);

}  // namespace cacheline::decode
