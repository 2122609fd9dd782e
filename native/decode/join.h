// Where the straight line of code meets a jump: which ways lead there, and the locked access at the end of
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decode/access.h"
#include "decode/condition.h"

namespace cacheline::decode {

/// What a way to the join asks of registers that it leaves alone from there on.
struct Demand {
  Comparison comparison;
  Condition condition = kAlways;
  bool taken = false;  ///< whether the jump behind the comparison is
};

/// Code that runs straight to a jump, which leads to the join (or may: where it is indirect).
struct Jump {
  uint64_t from = 0, at = 0;          ///< first instruction; the jump
  Condition condition = kOutOfFlags;  ///< at the join the flags are still those of the jump
  bool locked = false;  ///< on this code, whoever came there, is a locked access: who runs it is sampled here
  bool skips = false;   ///< over the straight line, which begins behind it
  std::vector<Demand> demands;
};

/// The interrupt of a slow locked instruction arrives right after it. Where that is the target of jumps, the
/// samples there are of threads that ran the locked access, and of those that jumped.
struct Join {
  AccessPlan before;  ///< the locked access right before the join (skid 1); none, clobbered or threadLocal
  uint64_t from = 0;  ///< first instruction of the straight line
  std::vector<Demand> demands;
  std::vector<Jump> jumps;
};

/// Arguments as for planAccess(). Empty where `ip` is no such join. Indirect jumps count as jumps to it:
/// where they lead is not known.
std::optional<Join> planJoin(std::span<const uint8_t> code, uint64_t codeStart, uint64_t ip);

}  // namespace cacheline::decode
