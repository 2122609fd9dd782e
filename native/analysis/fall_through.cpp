// Ways are ruled out one by one; the cheapest evidence is asked first.
#include "analysis/fall_through.h"

#include <algorithm>

namespace cacheline::analysis {

namespace {

/// Behind a locked access on the way to a jump, this many times more samples than at its target are expected
/// of threads that jump (measured: thirty times and more).
constexpr uint64_t kMoreThanAtJoin = 4;

/// Samples behind an access that say where the others went, and how many times fewer those of another way
/// are.
constexpr uint64_t kEnough = 20, kHardly = 20;

/// The way whose access was sampled, where those of all others hardly were.
std::optional<size_t> sampledWay(const decode::Join& join, const SeenCode& seen,
                                 const perfdata::Sample& sample, uint64_t loadBias) {
  std::optional<size_t> most;
  uint64_t samples = 0, others = 0;
  for (size_t i = 0; i < join.ways.size(); ++i) {
    const decode::Way& way = join.ways[i];
    if (way.contradicts(sample.registers, loadBias)) continue;
    if (!way.hasAccess() || way.behindFrom == way.behindTo) return {};
    const uint64_t own =
        seen.count(sample.pid, sample.tid, way.behindFrom + loadBias, way.behindTo + loadBias);
    others += std::min(own, samples);
    if (own >= samples) most = i, samples = own;
  }
  if (samples < kEnough || kHardly * others > samples) return {};
  return most;
}

}  // namespace

std::optional<size_t> wayTo(const decode::Join& join, const SeenCode& seen, const perfdata::Sample& sample,
                            uint64_t loadBias) {
  if (const auto taken = decode::wayTaken(join, sample.registers, loadBias)) return taken;
  if (!join.behindLocked) return sampledWay(join, seen, sample, loadBias);
  const uint64_t ip = sample.ip - loadBias;
  const auto sampled = [&](uint64_t from, uint64_t to) {
    return seen.count(sample.pid, sample.tid, from + loadBias, to + loadBias);
  };
  const decode::Way& straight = join.ways[0];
  const bool onTheWay = sampled(straight.from, ip) > 0;
  const uint64_t here = sampled(ip, ip + 1);
  const auto ruledOut = [&](const decode::Way& way) {
    if (way.contradicts(sample.registers, loadBias)) return true;
    if (way.skips) return onTheWay;
    if (way.from <= ip && ip <= way.at) return false;  // a loop: all samples in it are on the way to its jump
    const uint64_t there = sampled(way.from, way.at + 1);
    if (way.locked) return there < kMoreThanAtJoin * here;
    return kMoreThanAtJoin * there < here && onTheWay;
  };
  if (straight.contradicts(sample.registers, loadBias) ||
      !std::all_of(join.ways.begin() + 1, join.ways.end(), ruledOut))
    return {};
  return 0;
}

}  // namespace cacheline::analysis
