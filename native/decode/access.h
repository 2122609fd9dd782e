// From a sampled instruction pointer to the memory access that took the time, and its effective address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/registers.h"
#include "decode/code_sweep.h"
#include "decode/sum.h"

namespace cacheline::decode {

enum class AccessKind : uint8_t { read, write, readWrite };

/// Why a sample could not be charged to an access. The names are those of `samples.unattributed` in the
/// report.
enum class Failure : uint8_t { none, noInstruction, noMemoryOperand, clobbered, threadLocal };

/// Instructions from an access to the IP of a sample that it can have caused. What waits for memory is the
/// oldest instruction of its core, and those behind it that are done retire with it, some eight in a cycle.
/// Samples further away are time of the instructions there.
inline constexpr uint8_t kMostSkid = 8;

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
  bool swaps = false;  ///< locked xchg, cmpxchg or bts: how locks are taken; counters use add, inc, xadd
  bool adds = false;   ///< locked add, sub, inc or dec: a sum of which the code does not look at the result
  bool operator==(const MemoryOperand&) const = default;
};

/// The answer for one sampled IP; depends on the code only, so it is cached per IP.
struct AccessPlan {
  Failure failure = Failure::noInstruction;
  uint64_t codeAddress = 0;  ///< address of the accessing instruction, same numbering as `ip`
  uint8_t skid = 0;          ///< instructions from the access to the IP, up to kMostSkid; 0: the IP's own
  MemoryOperand operand;
  /// Not empty: the address by what is left of it, where registers of the operand were overwritten. Each sum
  /// may count on those before it; the last one is the address.
  std::vector<Sum> sums = {};

  /// Whether the address is one of the code's own addresses: it lies where the binary was loaded.
  bool isFixed() const { return sums.empty() && operand.base == kRegNone && operand.index == kRegNone; }
};

/// Finds the access of a sample at `ip`. `code` is the function's from its symbol's start through its end;
/// sampled IPs outside give Failure::noInstruction. Rule: the
/// nearest earlier memory-accessing instruction of the same basic block, at most kMostSkid before, unless an
/// instruction since (itself included) overwrote its base or index beyond recovery (`clobbered`); only where
/// the block has none there, the IP's own operand. fs:/gs: operands give `threadLocal`. Never throws; any
/// bytes are valid input. Callers keep the sweep of the code, and the answer for
/// each IP.
///
/// - Blocks start at targets of the function's direct branches and after every branch, call, return,
///   system call and trap. Targets of jump tables are not known: a case that is fallen into counts as
///   the same block.
/// - An IP on a string operation with rep is charged to that operation: it is interrupted between its
///   iterations, so its own earlier iterations are the nearest access (measured on rep stosb of 128 B
///   and 64 KiB: all of 2,125 such samples had begun).
/// - Undone: add and sub with an immediate, inc, dec, lea r, [r + n], push, pop, enter, leave, on 64-bit
///   registers.
/// - Two memory operands: not the stack slot (push [m], pop [m], call [m]), a write before a read (movs,
///   movdir64b), the first of two reads (cmps). Implicit stack and string operands count; lea, nop,
///   prefetch and cache control do not.
/// - noMemoryOperand also where an access has no one address over 64-bit registers: gather, scatter,
///   tiles, xlat, bt with a register offset, 32-bit addressing. It is the charged access then; no
///   earlier one is taken for it.
/// - Bytes that decode to nothing are skipped one by one and separate blocks. An IP within an
///   instruction of the sweep is tried again from the nearest branch target before it, else it is
///   noInstruction.
AccessPlan planAccess(const Code& code, uint64_t ip);
/// The same where nothing else is asked of that code.
AccessPlan planAccess(std::span<const uint8_t> bytes, uint64_t start, uint64_t ip);

/// False where a register it needs is not in the snapshot.
bool effectiveAddress(const MemoryOperand& operand, const Registers& registers, uint64_t& address);
/// The same of a plan. `bias`: of the process's addresses over the plan's, which count in operands without
/// registers. Allocates nothing.
bool effectiveAddress(const AccessPlan& plan, const Registers& registers, uint64_t bias, uint64_t& address);

}  // namespace cacheline::decode
