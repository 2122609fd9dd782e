// Where several ways of control flow meet: the access on each, and what tells which one a thread took.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decode/access.h"
#include "decode/companions.h"
#include "decode/condition.h"
#include "decode/paths.h"

namespace cacheline::decode {

/// What a way asks of registers that it leaves alone from there on.
struct Demand {
  Comparison comparison;
  Condition condition = kAlways;  ///< that the comparison met
};

/// A register that a way sets: it holds the last of `sums`.
struct Setting {
  uint8_t reg = kRegNone;
  std::vector<Sum> sums;
};

/// A way to the join, through its last straight piece of code.
struct Way {
  uint64_t from = 0, at = 0;  ///< first and last instruction of that piece; the first may be others' too
  /// Code of that piece behind its access, where samples of who waited at the access lie, too; empty where
  /// the interrupt has no instruction there to arrive at.
  uint64_t behindFrom = 0, behindTo = 0;
  bool locked = false;  ///< on this code, whoever came there, is a locked access: who runs it is sampled here
  bool skips = false;   ///< over the piece that falls into the join, by the jump before it
  std::vector<Condition> conditions;  ///< met by the flags, which are the same since
  std::vector<Demand> demands;
  std::vector<Setting> settings;
  /// The last access on it. noMemoryOperand and skid 0: there is none near enough, or it is not known.
  AccessPlan before;
  std::vector<Companion> companions;  ///< of that access

  bool hasAccess() const { return before.skid != 0; }
  /// Whether registers show that a thread did not come by it. `bias`: as for effectiveAddress().
  bool contradicts(const Registers& registers, uint64_t bias) const;
};

/// Samples right behind the instructions that wait are of threads that ran these, and of others.
struct Join {
  std::vector<Way> ways;  ///< all of them: one of unknown ones is a way without anything known
  /// The interrupt of a slow locked instruction arrives right after it. Where that is the target of jumps,
  /// the first way falls into it from a locked access.
  bool behindLocked = false;
};

/// The join at `ip`, or on the way to it where its block has no access up to there; some way has an access.
/// Where ways into the function's blocks are not known, only one behind a locked access. Else empty.
std::optional<Join> planJoin(const Code& code, uint64_t ip);

/// A direct call, whose return is all that leads to an instruction.
struct Call {
  uint64_t target = 0;
  std::vector<Instruction> behind;  ///< between the return and the instruction
};
/// The call before `ip`, where no access is in between and `ip` has none of its own. Else empty.
std::optional<Call> callBefore(const Code& code, uint64_t ip);
/// The join behind a called function: its ways to return, and what was run `behind` them. Empty where it may
/// go on in others, or no way has an access. Its reads of the return address do not count: the call has just
/// written it.
std::optional<Join> planReturn(const Code& callee, std::span<const Instruction> behind);

/// The way that registers do not contradict. Where there are several, one of them if the accesses of all are
/// at one address, a locked one if there is one: that is what waits most. Else empty.
std::optional<size_t> wayTaken(const Join& join, const Registers& registers, uint64_t bias);

}  // namespace cacheline::decode
