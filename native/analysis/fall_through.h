// Which way a sample at a join of control flow took.
#pragma once

#include <cstddef>
#include <optional>

#include "analysis/seen_code.h"
#include "decode/join.h"

namespace cacheline::analysis {

/// The way of a join whose access a sample is charged to: the only one that its registers do not contradict,
/// or one of several that agree. Else the one whose access has samples of the thread before the join, where
/// those of all others have hardly any. Behind a locked access also the one that falls into the join, where
/// every other way is ruled out:
/// - it contradicts the registers;
/// - it skips the access, nothing better is known, and the thread was sampled on the way to the access;
/// - a locked access stands on it, too: its samples lie there. Threads that jump have few at the join then,
///   threads that do not have none there;
/// - the thread was sampled on the way to the access, and hardly on this one.
/// `load bias`: of the process's addresses over those of the join.
std::optional<size_t> wayTo(const decode::Join& join, const SeenCode& seen, const perfdata::Sample& sample,
                            uint64_t loadBias);

}  // namespace cacheline::analysis
