// The runs of a round and their tournament.
#include "perfdata/sorter.h"

namespace cacheline::perfdata {

void Sorter::startRun(uint64_t time, const uint8_t* at) {
  if (time < last_) stretchDescends_ = true;
  closeRun();
  run_ = {time, at, at};
  open_ = true;
}

void Sorter::closeRun() {
  if (!open_) return;
  open_ = false;
  runs_.push_back(run_);
  stretchNewest_ = std::max(stretchNewest_, last_);
  newest_ = std::max(newest_, last_);
}

Sorter::Key Sorter::startTournament(uint64_t limit) {
  const size_t count = runs_.size();
  if (count == 0) return kNobody;
  std::vector<Key> winners(2 * count);  // of each match; a match from `count` on is a run by itself
  for (size_t i = 0; i < count; ++i)
    winners[count + i] = runs_[i].time <= limit ? keyOf(runs_[i].time, i) : kNobody;
  losers_.resize(count);
  for (size_t match = count - 1; match != 0; --match) {
    const auto [less, more] = std::minmax(winners[2 * match], winners[2 * match + 1]);
    winners[match] = less;
    losers_[match] = more;
  }
  return winners[1];
}

}  // namespace cacheline::perfdata
