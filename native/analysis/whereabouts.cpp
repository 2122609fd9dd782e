// Stretches of time by thread, and looking into them.
#include "analysis/whereabouts.h"

#include <algorithm>
#include <utility>

namespace cacheline::analysis {

namespace {

/// ns. Two stretches of a thread on one CPU with a shorter pause between them are kept as one: nothing else
/// has two samples meanwhile, and threads that take short naps need no more memory than others.
constexpr uint64_t kNap = 50'000;

/// At the end of others.
void add(const Interval& interval, uint32_t cpu, Whereabouts::Stretches& stretches) {
  if (!stretches.empty() && stretches.back().cpu == cpu && interval.from - stretches.back().to <= kNap)
    stretches.back().to = interval.to;
  else
    stretches.push_back({interval.from, interval.to, cpu});
}

}  // namespace

const char* ranByName(RanBy by) {
  return by == RanBy::switches ? "switches" : "samples";
}

Whereabouts::Whereabouts(RanBy by, bool everyCpu, CpuCores cores, std::vector<Trail> trails)
    : by_(by), everyCpu_(everyCpu), cores_(std::move(cores)) {
  for (Trail& each : trails) {
    Thread& thread = threads_.emplace_back();
    const bool stays = !each.ran.empty() && std::ranges::none_of(each.ran, [&](const Stretch& stretch) {
      return areApart(stretch.cpu, each.ran.front().cpu);
    });
    if (stays) thread.onlyCore = cores_.of(each.ran.front().cpu);
    thread.trail = std::move(each);
  }
}

bool Whereabouts::ranElsewhere(uint32_t thread, uint32_t cpu, uint64_t after, uint64_t until) const {
  if (cpu == kNoCpu || thread >= threads_.size() || threads_[thread].trail.ran.empty()) return true;
  const auto& [trail, onlyCore] = threads_[thread];
  if (onlyCore == cores_.of(cpu)) return false;
  const auto first = std::ranges::upper_bound(trail.ran, after, {}, &Stretch::to);
  for (auto each = first; each != trail.ran.end() && each->from < until; ++each)
    if (areApart(each->cpu, cpu)) return true;
  return false;
}

bool Whereabouts::wasReady(uint32_t thread, uint64_t after, uint64_t until) const {
  if (thread >= threads_.size()) return true;
  const Trail& trail = threads_[thread].trail;
  const Stretches& stretches = trail.ready.empty() ? trail.ran : trail.ready;
  const auto first = std::ranges::upper_bound(stretches, after, {}, &Stretch::to);
  return first != stretches.end() && first->from < until;
}

void WhereaboutsReader::moved(Whereabouts::Stretches& stretches, uint32_t cpu, uint64_t time) {
  const uint64_t before = stretches.empty() ? time : std::exchange(stretches.back().to, time);
  stretches.push_back({before, time, cpu});
}

void WhereaboutsReader::onInterval(const Interval& interval) {
  if (interval.activity == Activity::blocked) return;
  if (interval.thread >= ran_.size()) ran_.resize(interval.thread + size_t{1});
  if (interval.activity != Activity::runnable) add(interval, interval.cpu, ran_[interval.thread].ran);
  add(interval, kNoCpu, ran_[interval.thread].ready);
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
