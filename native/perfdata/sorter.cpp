// The runs of a round and the heap of their heads.
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

void Sorter::replaceFirst(uint64_t time, size_t run) {
  size_t at = 0;
  const size_t count = heads_.size();
  for (size_t child = 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && heads_[child + 1].isBefore(heads_[child].time, heads_[child].run)) ++child;
    if (!heads_[child].isBefore(time, run)) break;
    heads_[at].time = heads_[child].time;
    heads_[at].run = heads_[child].run;
    at = child;
  }
  heads_[at].time = time;
  heads_[at].run = run;
}

}  // namespace cacheline::perfdata
