// Stretches of time by thread, and looking into them.
#include "analysis/whereabouts.h"

#include <algorithm>
#include <utility>

namespace cacheline::analysis {

namespace {

/// ns. Two stretches of a thread on one CPU with a shorter pause between them are kept as one: nothing else
/// has two samples meanwhile, and threads that take short naps need no more memory than others.
constexpr uint64_t kNap = 50'000;

}  // namespace

const char* ranByName(RanBy by) {
  return by == RanBy::switches ? "switches" : "samples";
}

Whereabouts::Whereabouts(RanBy by, bool everyCpu, CpuCores cores, std::vector<Stretches> stretches)
    : by_(by), everyCpu_(everyCpu), cores_(std::move(cores)) {
  for (Stretches& each : stretches) {
    Thread& thread = threads_.emplace_back();
    const bool stays = !each.empty() && std::ranges::none_of(each, [&](const Stretch& stretch) {
      return areApart(stretch.cpu, each.front().cpu);
    });
    if (stays) thread.onlyCore = cores_.of(each.front().cpu);
    thread.stretches = std::move(each);
  }
}

bool Whereabouts::ranElsewhere(uint32_t thread, uint32_t cpu, uint64_t after, uint64_t until) const {
  if (cpu == kNoCpu || thread >= threads_.size() || threads_[thread].stretches.empty()) return true;
  const auto& [stretches, onlyCore] = threads_[thread];
  if (onlyCore == cores_.of(cpu)) return false;
  const auto first = std::ranges::upper_bound(stretches, after, {}, &Stretch::to);
  for (auto each = first; each != stretches.end() && each->from < until; ++each)
    if (areApart(each->cpu, cpu)) return true;
  return false;
}

void WhereaboutsReader::moved(Whereabouts::Stretches& stretches, uint32_t cpu, uint64_t time) {
  const uint64_t before = stretches.empty() ? time : std::exchange(stretches.back().to, time);
  stretches.push_back({before, time, cpu});
}

void WhereaboutsReader::onInterval(const Interval& interval) {
  if (interval.activity != Activity::running && interval.activity != Activity::unknown) return;
  if (interval.thread >= ran_.size()) ran_.resize(interval.thread + size_t{1});
  Whereabouts::Stretches& stretches = ran_[interval.thread];
  if (!stretches.empty() && stretches.back().cpu == interval.cpu &&
      interval.from - stretches.back().to <= kNap)
    stretches.back().to = interval.to;
  else
    stretches.push_back({interval.from, interval.to, interval.cpu});
}

std::shared_ptr<const Whereabouts> WhereaboutsReader::take(const ThreadTable& threads, bool everyCpu,
                                                           CpuCores cores) {
  follower_.finish();
  const bool bySwitches = follower_.switches > 0;
  if (!bySwitches && !everyCpu) return nullptr;
  if (bySwitches) {
    sampled_.assign(threads.size(), {});
    for (uint32_t thread = 0; thread < threads.size(); ++thread)
      if (const uint32_t number = all_.index(threads[thread].pid, threads[thread].tid); number < ran_.size())
        sampled_[thread] = std::move(ran_[number]);
  }
  return std::make_shared<const Whereabouts>(bySwitches ? RanBy::switches : RanBy::samples, everyCpu,
                                             std::move(cores), std::move(sampled_));
}

}  // namespace cacheline::analysis
