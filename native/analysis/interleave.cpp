// Runs of accesses in time, and the rule by which two threads compete.
#include "analysis/interleave.h"

#include <algorithm>
#include <array>

namespace cacheline::analysis {

namespace {

constexpr size_t kGivenUpAtOnce = 4;

uint64_t samplesOf(std::span<const Run> runs) {
  uint64_t count = 0;
  for (const Run& run : runs) count += run.count;
  return count;
}

double meanDistance(std::span<const Run> runs, uint64_t samples) {
  if (samples < 2) return 0;
  return static_cast<double>(runs.back().end - runs.front().start) / static_cast<double>(samples - 1);
}

/// Was `visitor` seen inside a pause of `host` of at most `limit` mean sample distances of the host?
bool seenAtWork(std::span<const Run> host, std::span<const Run> visitor, double limit) {
  const double longest = limit * meanDistance(host, samplesOf(host));
  size_t v = 0;
  for (size_t i = 0; i < host.size(); ++i) {
    const Run& run = host[i];
    while (v < visitor.size() && visitor[v].end < run.start) ++v;
    if (v == visitor.size()) return false;
    // Inside a merged run: the visitor was there during one of the pauses it swallowed.
    if (run.pause != kNoPause && static_cast<double>(run.pause) <= longest)
      for (size_t w = v; w < visitor.size() && visitor[w].start < run.end; ++w)
        if (visitor[w].end > run.start) return true;
    if (i + 1 == host.size()) return false;
    const Run& next = host[i + 1];
    if (static_cast<double>(next.start - run.end) > longest) continue;
    for (size_t w = v; w < visitor.size() && visitor[w].start <= next.start; ++w)
      if (visitor[w].end >= run.end) return true;
  }
  return false;
}

/// Changes of the thread in the merged sequence of runs, at most 3; runs that overlap count as 3.
int switches(std::span<const Run> a, std::span<const Run> b) {
  int changes = 0, last = -1;
  uint64_t lastEnd = 0;
  for (size_t i = 0, j = 0; (i < a.size() || j < b.size()) && changes < 3;) {
    const bool takeA =
        j == b.size() ||
        (i < a.size() && (a[i].start < b[j].start || (a[i].start == b[j].start && a[i].end <= b[j].end)));
    const Run& run = takeA ? a[i++] : b[j++];
    const int who = takeA ? 0 : 1;
    if (last >= 0 && who != last) {
      if (run.start < lastEnd) return 3;
      ++changes;
    }
    last = who;
    lastEnd = std::max(lastEnd, run.end);
  }
  return changes;
}

}  // namespace

void RunList::push(const Run& run) {
  earlier_.push_back(last_);
  last_ = run;
}

uint64_t RunList::shortPause(size_t rank) const {
  std::array<uint64_t, kMaxRuns> pauses{};
  size_t count = 0;
  for (size_t i = 0; i < earlier_.size(); ++i) {
    const Run& next = i + 1 < earlier_.size() ? earlier_[i + 1] : last_;
    pauses[count++] = next.start - earlier_[i].end;
  }
  const auto at = pauses.begin() + static_cast<ptrdiff_t>(std::min(rank, count - 1));
  std::nth_element(pauses.begin(), at, pauses.begin() + static_cast<ptrdiff_t>(count));
  return *at;
}

void RunList::giveUp(uint64_t pause) {
  givenUp_ = givenUp_ == kNoPause ? pause : std::max(givenUp_, pause);
  size_t kept = 0;  // of earlier_; the one behind them is being put together
  for (size_t i = 1; i <= earlier_.size(); ++i) {
    const Run& run = i < earlier_.size() ? earlier_[i] : last_;
    Run& open = earlier_[kept];
    const uint64_t between = run.start - open.end;
    if (between > givenUp_) {
      if (i == earlier_.size()) {
        earlier_.resize(kept + 1);
        return;
      }
      earlier_[++kept] = run;
      continue;
    }
    open.end = run.end;
    open.count += run.count;
    open.pause = std::min({open.pause, run.pause, between});
  }
  last_ = earlier_[kept];
  earlier_.resize(kept);
}

void RunList::beginAfter(uint64_t pause, uint64_t time) {
  if (earlier_.size() + 1 == kMaxRuns) {
    // Room for several runs, or every long pause to come would search for the shortest again.
    giveUp(shortPause(kGivenUpAtOnce - 1));
    if (pause <= givenUp_) return begin(time);
  }
  push({time, time, kNoPause, 1});
}

std::vector<Run> RunList::runs() const {
  std::vector<Run> all = earlier_;
  if (last_.count > 0) all.push_back(last_);
  return all;
}

bool compete(std::span<const Run> a, std::span<const Run> b) {
  if (a.empty() || b.empty()) return false;
  if (a.back().end <= b.front().start || b.back().end <= a.front().start) return false;
  const int changes = switches(a, b);
  if (changes >= 3) return seenAtWork(a, b, kBusyPauses) || seenAtWork(b, a, kBusyPauses);
  if (changes < 2) return false;
  const bool aFirst = a.front().start <= b.front().start;
  const auto outer = aFirst ? a : b, inner = aFirst ? b : a;
  return samplesOf(outer) >= kVisitorSamples && seenAtWork(outer, inner, kVisitorPauses);
}

}  // namespace cacheline::analysis
