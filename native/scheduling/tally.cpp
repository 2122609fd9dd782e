// Sums of intervals.
#include "scheduling/tally.h"

#include <algorithm>

namespace cacheline::scheduling {

using analysis::Activity;
using analysis::kNoCpu;

uint64_t Bins::edge(size_t bin) const {
  // 128 bits: the span can be any number of ns.
  __extension__ using Wide = unsigned __int128;
  return from_ + static_cast<uint64_t>(Wide{to_ - from_} * bin / count_);
}

size_t Bins::at(uint64_t time) const {
  __extension__ using Wide = unsigned __int128;
  if (time <= from_ || to_ <= from_) return 0;
  const auto bin = static_cast<size_t>(Wide{time - from_} * count_ / (to_ - from_));
  return std::min(bin, count_ - 1);
}

void Bins::add(std::vector<uint64_t>& bins, uint64_t from, uint64_t to) const {
  from = std::max(from, from_);
  to = std::min(to, to_);
  if (from >= to) return;
  for (size_t bin = at(from); bin < count_ && from < to; ++bin) {
    const uint64_t end = bin + 1 == count_ ? to_ : edge(bin + 1);
    if (end <= from) continue;  // an edge is rounded down: the time belongs to the next bin
    bins[bin] += std::min(to, end) - from;
    from = std::min(to, end);
  }
}

ThreadTally& Tally::at(uint32_t thread) {
  if (thread >= threads.size()) threads.resize(thread + size_t{1});
  return threads[thread];
}

void Tally::keepLanes(std::span<const uint32_t> kept, bool contended) {
  for (const uint32_t thread : kept) {
    Lane& lane = at(thread).lane.emplace();
    for (std::vector<uint64_t>& bins : lane.activities) bins.resize(bins_.count());
    lane.migrations.resize(bins_.count());
    if (contended) lane.contended.resize(bins_.count());
  }
}

void Tally::onInterval(const analysis::Interval& interval) {
  const uint64_t from = std::max(interval.from, bins_.from()), to = std::min(interval.to, bins_.to());
  if (from >= to) return;
  ThreadTally& thread = at(interval.thread);
  const auto activity = static_cast<size_t>(interval.activity);
  thread.first = std::min(thread.first, from);
  thread.last = std::max(thread.last, to);
  thread.times[activity] += to - from;
  if (thread.lane) bins_.add(thread.lane->activities[activity], from, to);
  if (interval.activity == Activity::running && interval.cpu != kNoCpu)
    addToCpus(thread, interval.cpu, from, to);
}

void Tally::addToCpus(ThreadTally& thread, uint32_t cpu, uint64_t from, uint64_t to) {
  // Most threads run where they ran last.
  auto share = std::find_if(thread.cpus.rbegin(), thread.cpus.rend(),
                            [cpu](const CpuShare& each) { return each.cpu == cpu; });
  if (share == thread.cpus.rend()) {
    thread.cpus.push_back({cpu, 0});
    share = thread.cpus.rbegin();
  }
  share->running += to - from;
  CpuTally& sum = cpus[cpu];
  sum.running += to - from;
  sum.bins.resize(bins_.count());
  bins_.add(sum.bins, from, to);
}

void Tally::onLeft(uint32_t thread, uint32_t cpu, bool preempted, uint64_t time) {
  if (!isInside(time)) return;
  ThreadTally& sum = at(thread);
  ++sum.switches;
  if (preempted) ++sum.preempted;
  if (cpu != kNoCpu) ++cpus[cpu].switches;
}

void Tally::onMigrated(uint32_t thread, uint64_t time) {
  if (!isInside(time)) return;
  ThreadTally& sum = at(thread);
  ++sum.migrations;
  if (sum.lane) ++sum.lane->migrations[bins_.at(time)];
}

void Tally::addLock(uint32_t thread, const LockCall& call, uint64_t from, uint64_t to) {
  from = std::max(from, bins_.from());
  to = std::min(to, bins_.to());
  if (from >= to) return;
  LockWait& wait = at(thread).locks.try_emplace(call, LockWait{call, 0, 0}).first->second;
  wait.ns += to - from;
  ++wait.waits;
}

void Tally::addContended(uint32_t thread, uint64_t time, double amount) {
  if (!isInside(time)) return;
  ThreadTally& sum = at(thread);
  sum.contended += amount;
  if (sum.lane && !sum.lane->contended.empty()) sum.lane->contended[bins_.at(time)] += amount;
}

}  // namespace cacheline::scheduling
