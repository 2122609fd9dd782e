// Runs of accesses in time, and the rule by which two threads compete.
#include "analysis/interleave.h"

#include <algorithm>

namespace cacheline::analysis {

namespace {

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

void RunList::begin(uint64_t time) {
  if (size_ == kMaxRuns) mergeShortestPause(time);
  if (size_ > 0 && time < runs_[size_ - 1].end) time = runs_[size_ - 1].end;
  if (size_ == kMaxRuns) {  // the shortest pause was the one before the new run
    Run& last = runs_[size_ - 1];
    last.pause = std::min(last.pause, time - last.end);
    extend(time);
    return;
  }
  runs_[size_++] = Run{time, time, kNoPause, 1};
}

void RunList::mergeShortestPause(uint64_t nextStart) {
  size_t best = 0;
  uint64_t shortest = kNoPause;
  for (size_t i = 0; i < size_; ++i) {
    const uint64_t next = i + 1 < size_ ? runs_[i + 1].start : std::max(nextStart, runs_[i].end);
    if (const uint64_t pause = next - runs_[i].end; pause < shortest) {
      shortest = pause;
      best = i;
    }
  }
  if (best + 1 == size_) return;  // begin() merges into the last run
  Run& left = runs_[best];
  const Run& right = runs_[best + 1];
  left.end = right.end;
  left.count += right.count;
  left.pause = std::min({left.pause, right.pause, shortest});
  std::move(runs_.begin() + static_cast<ptrdiff_t>(best) + 2, runs_.begin() + static_cast<ptrdiff_t>(size_),
            runs_.begin() + static_cast<ptrdiff_t>(best) + 1);
  --size_;
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
