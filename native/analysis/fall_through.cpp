// Jumps are ruled out one by one; the cheapest evidence is asked first.
#include "analysis/fall_through.h"

#include <algorithm>
#include <vector>

namespace cacheline::analysis {

namespace {

/// Behind a locked access on the way to a jump, this many times more samples than at its target are expected
/// of threads that jump (measured: thirty times and more).
constexpr uint64_t kMoreThanAtJoin = 4;

/// Whether registers show that a sample did not come by a way.
bool contradicts(const Registers& registers, const std::vector<decode::Demand>& demands) {
  return std::any_of(demands.begin(), demands.end(), [&](const decode::Demand& demand) {
    const auto flags = demand.comparison.flags(registers);
    return flags && decode::mayHold(demand.condition, *flags) != demand.taken;
  });
}

}  // namespace

bool fellThrough(const decode::Join& join, const SeenCode& seen, const perfdata::Sample& sample,
                 uint64_t slide) {
  const uint64_t ip = sample.ip - slide;
  const auto sampled = [&](uint64_t from, uint64_t to) {
    return seen.count(sample.pid, sample.tid, from + slide, to + slide);
  };
  const bool onTheWay = sampled(join.from, ip) > 0;
  const uint64_t here = sampled(ip, ip + 1);
  const auto ruledOut = [&](const decode::Jump& jump) {
    if (sample.registers.has(kRegFlags) &&
        !decode::mayHold(jump.condition, sample.registers.value[kRegFlags]))
      return true;
    if (contradicts(sample.registers, jump.demands)) return true;
    if (jump.skips) return onTheWay;
    if (jump.from <= ip && ip <= jump.at)
      return false;  // a loop: all samples in it are on the way to its jump
    const uint64_t there = sampled(jump.from, jump.at + 1);
    if (jump.locked) return there < kMoreThanAtJoin * here;
    return kMoreThanAtJoin * there < here && onTheWay;
  };
  return !contradicts(sample.registers, join.demands) &&
         std::all_of(join.jumps.begin(), join.jumps.end(), ruledOut);
}

}  // namespace cacheline::analysis
