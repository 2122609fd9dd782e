// Alternations of samples by CPU, and where competitors ran between two samples.
#include "analysis/turns.h"

#include <algorithm>
#include <optional>
#include <utility>

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
    known->erase(std::unique(known->begin(), known->end()), known->end());
    return *known;
  }

 private:
  std::span<const Visitor> visitors_;
  const std::vector<std::vector<bool>>& pairs_;
  std::span<const uint32_t> threads_;
  std::vector<std::optional<std::vector<uint32_t>>> rivals_;
};

/// What tells of a core's first sample: the time until its next one. Where there is none, that since the
/// line's first sample.
std::pair<uint64_t, uint64_t> aroundFirst(std::span<const PlaceSample> samples, size_t first,
                                          const Whereabouts& where) {
  const PlaceSample& sample = samples[first];
  for (const PlaceSample& next : samples.subspan(first + 1))
    if (!where.areApart(next.cpu, sample.cpu)) return {sample.time, next.time};
  return {samples.front().time, sample.time};
}

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

std::vector<Meanwhile> competitorsOf(std::span<const PlaceSample> samples, std::span<const Visitor> visitors,
                                     const std::vector<std::vector<bool>>& pairs, const Whereabouts& where,
                                     std::span<const uint32_t> threads) {
  std::vector<Meanwhile> result;
  result.reserve(samples.size());
  Rivals rivals(visitors, pairs, threads);
  for (size_t i = 0; i < samples.size(); ++i) {
    const PlaceSample& sample = samples[i];
    const uint32_t own = threads[sample.visitor];
    std::vector<uint32_t>& others = rivals.of(visitors[sample.visitor].actor);
    const auto [after, until] =
        sample.since != 0 ? std::pair(sample.since, sample.time) : aroundFirst(samples, i, where);
    const auto elsewhere = std::ranges::find_if(others, [&, from = after, to = until](uint32_t thread) {
      return thread != own && where.ranElsewhere(thread, sample.cpu, from, to);
    });
    if (elsewhere != others.end()) {
      result.push_back(Meanwhile::elsewhere);
      std::iter_swap(others.begin(), elsewhere);  // it is likely to have done so the next time, too
      continue;
    }
    const bool ready = std::ranges::any_of(others, [&, from = after, to = until](uint32_t thread) {
      return thread != own && where.wasReady(thread, from, to);
    });
    result.push_back(ready ? Meanwhile::onThisCore : Meanwhile::asleep);
  }
  return result;
}

}  // namespace cacheline::analysis
