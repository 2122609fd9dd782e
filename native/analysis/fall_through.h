// Which way a sample at a join of control flow took.
#pragma once

#include "analysis/seen_code.h"
#include "decode/join.h"

namespace cacheline::analysis {

/// Whether a sample at a join is of a thread that ran the locked access right before it: the registers do not
/// contradict, and every jump to the join is ruled out. A jump is ruled out where
/// - the flags do not meet its condition: between a jump and its target nothing changes them;
/// - a comparison on the only way to it, made once more from the registers, comes out otherwise;
/// - it skips the access, nothing better is known, and the thread was sampled on the way to the access;
/// - a locked access stands on the way to the jump, too: its samples lie there. Threads that jump have few at
///   the join then, threads that do not have none there;
/// - the thread was sampled on the way to the access, and hardly on that to the jump.
/// `slide`: of the process's addresses over those of the join.
bool fellThrough(const decode::Join& join, const SeenCode& seen, const perfdata::Sample& sample,
                 uint64_t slide);

}  // namespace cacheline::analysis
