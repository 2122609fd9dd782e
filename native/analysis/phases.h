// Phases of a program, one behind the other: which threads worked at the same time, and which only after
// others had ended.
#pragma once

#include <cstdint>
#include <vector>

namespace cacheline::analysis {

/// From the beginning of a thread to its end, ns. 0 and ~0: records do not say.
struct LifeSpan {
  uint64_t from = 0, until = ~uint64_t{0};
};

/// Where phases begin, ns, ascending, the first one at 0. `workers`: lives of threads that started no
/// others, in any order. Those whose lives overlap, or overlap the same others, are of one phase. What is
/// between them is a phase, too: that of the threads that start others, which live in several phases.
///
/// A thread's end is recorded after its joiner woke, and that one may have started the next threads by then.
/// So lives that overlap by a tenth of the shorter one at most, and by kLateEnd, follow each other.
std::vector<uint64_t> phasesOf(std::vector<LifeSpan> workers);
inline constexpr uint64_t kLateEnd = 10'000'000;  // ns

/// The number of the phase that a time is in. `begins`: as phasesOf() has it; empty: there is one phase.
uint32_t phaseAt(const std::vector<uint64_t>& begins, uint64_t time);

}  // namespace cacheline::analysis
