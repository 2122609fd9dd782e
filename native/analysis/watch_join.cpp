// Rows of samples and rows of hits, by byte and instruction.
#include "analysis/watch_join.h"

#include <algorithm>
#include <tuple>

namespace cacheline::analysis {

namespace {

bool overlap(uint32_t a, uint32_t aWidth, uint32_t b, uint32_t bWidth) {
  return a < b + std::max(bWidth, 1u) && b < a + std::max(aWidth, 1u);
}

/// Milliseconds in which bytes of a row were watched; 0: they were not.
double watchedMs(const WatchedLine& watched, uint32_t offset, uint32_t width) {
  double ms = 0;
  for (const ConfirmedWord& word : watched.words)
    if (overlap(offset, width, word.offset, word.length)) ms = std::max(ms, word.windowMs);
  return ms;
}

void merge(WatchCounts& counts, const WatchCounts& more) {
  counts.reads += more.reads;
  counts.writes += more.writes;
  counts.unknown += more.unknown;
  counts.threads.insert(counts.threads.end(), more.threads.begin(), more.threads.end());
  std::sort(counts.threads.begin(), counts.threads.end());
  counts.threads.erase(std::unique(counts.threads.begin(), counts.threads.end()), counts.threads.end());
}

/// The row of samples that a row of hits is; of the same instruction, where the hit's own place is not known,
/// one that reaches into its word. ~0: none is.
size_t rowOf(const WatchedRow& row, const std::vector<RowKey>& keys, const std::vector<Access>& accesses) {
  if (row.elfAddress == 0) return ~size_t{0};
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].binary != row.binary || keys[i].elfAddress != row.elfAddress) continue;
    if (keys[i].offset == row.offset) return i;
    if (!row.exact && overlap(keys[i].offset, accesses[i].width, row.offset, row.width)) return i;
  }
  return ~size_t{0};
}

}  // namespace

void joinWatch(const WatchedLine& watched, const Turns& turns, const std::vector<RowKey>& keys,
               const MakeAccess& makeAccess, Line& line) {
  for (Access& access : line.accesses) {
    const double ms = watchedMs(watched, access.offset, access.width);
    if (ms > 0) access.watch.emplace().windowMs = ms;
  }
  for (const WatchedRow& row : watched.rows) {
    const size_t known = rowOf(row, keys, line.accesses);
    if (known >= keys.size() && !makeAccess) continue;
    Access fresh;
    Access& access = known < keys.size() ? line.accesses[known] : fresh = makeAccess(row);
    if (!access.watch) access.watch.emplace().windowMs = watchedMs(watched, row.offset, row.width);
    merge(*access.watch, row.counts);
    if (&access == &fresh) line.accesses.push_back(std::move(fresh));
  }
  std::vector<uint32_t> order(watched.words.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const ConfirmedWord &first = watched.words[a], &second = watched.words[b];
    return first.offset != second.offset ? first.offset < second.offset : first.length < second.length;
  });
  std::vector<ConfirmedWord> words;
  std::vector<uint32_t> place(order.size());
  for (const uint32_t from : order) {
    place[from] = static_cast<uint32_t>(words.size());
    words.push_back(watched.words[from]);
  }
  Turns sorted = turns;
  for (uint32_t& word : sorted.words) word = place[word];
  std::sort(sorted.words.begin(), sorted.words.end());
  line.confirmation = confirm(line.verdict, watched.seen, sorted, std::move(words), watched.watchedMs);
}

void addWatchedThreads(const WatchedLine& watched, const Turns& turns, const ThreadTable& threads,
                       Line& line) {
  for (const uint32_t index : watched.threads) {
    const Thread& thread = threads[index];
    if (std::any_of(line.threads.begin(), line.threads.end(), [&](const ThreadStatistics& use) {
          return use.pid == thread.pid && use.tid == thread.tid;
        }))
      continue;
    line.threads.push_back(
        {thread.pid, thread.tid, thread.comm, 0, 0, isContended(line.verdict) && turns.tookPart(thread.tid)});
  }
  std::sort(line.threads.begin(), line.threads.end(),
            [](const ThreadStatistics& a, const ThreadStatistics& b) {
              return std::tie(a.pid, a.tid) < std::tie(b.pid, b.tid);
            });
}

}  // namespace cacheline::analysis
