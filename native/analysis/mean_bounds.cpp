// Those that move the mean are taken in full, one after the other; the others as few as there can be.
#include "analysis/mean_bounds.h"

#include <algorithm>

namespace cacheline::analysis {

double boundOfMean(std::vector<UnsureCause> causes, bool largest) {
  std::ranges::sort(causes, [largest](const UnsureCause& a, const UnsureCause& b) {
    return largest ? a.part > b.part : a.part < b.part;
  });
  double sum = 0, parts = 0;
  for (const UnsureCause& cause : causes) {
    sum += cause.least;
    parts += cause.least * cause.part;
  }
  for (const UnsureCause& cause : causes) {
    const double more = cause.most - cause.least;
    if (more <= 0) continue;
    if (sum > 0 && (largest ? cause.part * sum <= parts : cause.part * sum >= parts)) break;
    sum += more;
    parts += more * cause.part;
  }
  return sum > 0 ? parts / sum : 0;
}

}  // namespace cacheline::analysis
