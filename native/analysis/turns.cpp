// Alternations of samples by CPU, and where competitors ran between two samples.
#include "analysis/turns.h"

#include <algorithm>
#include <optional>

namespace cacheline::analysis {

namespace {

constexpr uint32_t kNoNumber = ~uint32_t{0};

/// Threads of competitors, by actor.
class Rivals {
 public:
  Rivals(std::span<const Visitor> visitors, const std::vector<std::vector<bool>>& pairs,
         std::span<const uint32_t> threads)
      : visitors_(visitors), pairs_(pairs), threads_(threads), rivals_(pairs.size()) {}

  std::vector<uint32_t>& of(uint32_t actor) {
    std::optional<std::vector<uint32_t>>& known = rivals_[actor];
    if (known) return *known;
    known.emplace();
    if (pairs_[actor].empty()) return *known;
    for (uint32_t visitor = 0; visitor < visitors_.size(); ++visitor)
      if (pairs_[actor][visitors_[visitor].actor]) known->push_back(threads_[visitor]);
    std::ranges::sort(*known);
    known->erase(std::ranges::unique(*known).begin(), known->end());
    return *known;
  }

 private:
  std::span<const Visitor> visitors_;
  const std::vector<std::vector<bool>>& pairs_;
  std::span<const uint32_t> threads_;
  std::vector<std::optional<std::vector<uint32_t>>> rivals_;
};

}  // namespace

TurnPairs::TurnPairs(std::span<const PlaceSample> samples, std::span<const Visitor> visitors,
                     std::span<const size_t> actors, const Whereabouts& where)
    : actors_(actors.size()), seen_(actors.size() * actors.size()) {
  for (const Visitor& visitor : visitors)
    if (visitor.actor >= number_.size()) number_.resize(visitor.actor + size_t{1}, kNoNumber);
  for (uint32_t i = 0; i < actors.size(); ++i)
    if (actors[i] < number_.size()) number_[actors[i]] = i;
  struct Last {
    uint32_t number = 0, cpu = kNoCpu;
  };
  std::vector<Last> recent;  // of each actor, the last one first
  for (const PlaceSample& sample : samples) {
    const uint32_t number = number_[visitors[sample.visitor].actor];
    if (number == kNoNumber) continue;
    auto own = recent.begin();
    for (; own != recent.end() && own->number != number; ++own) {
      Seen& seen = at(number, own->number);
      if (!where.areApart(own->cpu, sample.cpu))
        seen.onOne = true;
      else if (seen.between < kFewest)
        ++seen.between;
    }
    if (own == recent.end()) own = recent.insert(own, {number, sample.cpu});
    own->cpu = sample.cpu;
    std::rotate(recent.begin(), own, own + 1);
  }
}

bool TurnPairs::contains(size_t a, size_t b) const {
  if (a >= number_.size() || b >= number_.size()) return false;
  const uint32_t low = std::min(number_[a], number_[b]), high = std::max(number_[a], number_[b]);
  if (high == kNoNumber) return false;
  const Seen& seen = seen_[high * actors_ + low];
  return seen.onOne && seen.between < kFewest;
}

std::vector<bool> samplesInTurns(std::span<const PlaceSample> samples, std::span<const Visitor> visitors,
                                 const std::vector<std::vector<bool>>& pairs, const Whereabouts& where,
                                 std::span<const uint32_t> threads) {
  std::vector<bool> result;
  result.reserve(samples.size());
  Rivals rivals(visitors, pairs, threads);
  // Before the first sample nobody is known to have used the line.
  const uint64_t begin = samples.empty() ? 0 : samples.front().time;
  for (const PlaceSample& sample : samples) {
    const uint32_t own = threads[sample.visitor];
    std::vector<uint32_t>& others = rivals.of(visitors[sample.visitor].actor);
    const uint64_t since = std::max(sample.since, begin);
    const auto elsewhere = std::ranges::find_if(others, [&](uint32_t thread) {
      return thread != own && where.ranElsewhere(thread, sample.cpu, since, sample.time);
    });
    result.push_back(elsewhere == others.end());
    // Who ran elsewhere then is likely to have done so the next time.
    if (elsewhere != others.end()) std::iter_swap(others.begin(), elsewhere);
  }
  return result;
}

}  // namespace cacheline::analysis
