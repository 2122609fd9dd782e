// Which words of a line are locks.
#pragma once

#include <vector>

#include "analysis/line_verdict.h"

namespace cacheline::analysis {

/// By use: whether its instruction takes a lock, or is at the word by which one is given back. Shown by the
/// code of a function that takes the word and gives it back. Where two functions do so, by the samples:
/// nearly all of them are of actors that do both.
std::vector<bool> lockUses(const LineAccesses& line);

}  // namespace cacheline::analysis
