// Merging the runs of a round.
#include "perfdata/sorter.h"

#include <algorithm>

namespace cacheline::perfdata {

void Sorter::mergeRuns() {
  const auto older = [](const Reference& a, const Reference& b) { return a.time < b.time; };
  while (runs_.size() > 1) {
    merged_.resize(waiting_.size());
    auto out = merged_.begin();
    size_t kept = 0;
    for (size_t i = 0; i < runs_.size(); i += 2) {
      const auto at = [&](size_t run) {
        return waiting_.begin() +
               static_cast<std::ptrdiff_t>(run < runs_.size() ? runs_[run] : waiting_.size());
      };
      const size_t start = runs_[i];
      out = std::merge(at(i), at(i + 1), at(i + 1), at(i + 2), out, older);
      runs_[kept++] = start;
    }
    runs_.resize(kept);
    waiting_.swap(merged_);
  }
}

}  // namespace cacheline::perfdata
