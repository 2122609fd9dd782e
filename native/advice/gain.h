// What ending some waiting is worth to the whole program.
#pragma once

#include <optional>
#include <string>

#include "advice/advice.h"
#include "advice/replay.h"

namespace cacheline::advice {

/// "clock, calibrated": the evidence, and whether it is known what contention costs on that machine.
std::string basisOf(const analysis::Report& report);

/// Of the program's elapsed time, after Cheetah (Liu, Liu: CGO 2016): a program takes as long as its slowest
/// thread, and a thread's time shrinks by the part of its contended samples that would not be there. Empty
/// where samples do not show where time goes, or what contention costs is not known.
std::optional<Speedup> speedupOf(const analysis::Report& report, const Replayed& before,
                                 const Replayed& after);

}  // namespace cacheline::advice
